// Verifies finished games of Scoundrel without trusting the server that ran them: the seed is the one that
// was committed to, the deck is its shuffle, every move was legal, everything that happened is what the rules
// make of the moves, and the score is the rules' score.
//
// Run it with Node.js 18 or later; it needs nothing else:
//
//     node verify.mjs FILE...
//
// It prints one line a file. Exit status: 0 if all files are verified, 1 if one differs, 2 if one cannot be read.
//
// The document that a FILE holds, what is checked and in which order: verifiers/README.md.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const RULES_REVISION = 1; // what this file knows the rules of
const MAX_HEALTH = 20;
const ROOM_SIZE = 4;
const TAKES_PER_FULL_ROOM = 3;

// ---- Reading the document ----------------------------------------------------------------------------------

// The types of fields. A list is written [type], a message as an object of its fields' types.
const TEXT = 'a string';
const INT = 'an integer';
const FLAG = 'true or false';
const OPTIONAL_INT = 'an integer or nothing';

const CARD = { card: TEXT };
const POTION = { card: TEXT, healed: INT, healthBefore: INT };
const PUT_BACK = { card: TEXT, position: { index: INT, streamPosition: INT } };
const RULESET = {
  weaponWear: TEXT, ending: TEXT, winBonus: TEXT, lossScore: TEXT, depth: INT, variants: [TEXT], companionHealth: INT,
};
const FACT = {
  gameStarted: { mode: TEXT, ruleset: RULESET, health: INT, dungeonSize: INT, commitment: TEXT },
  roomDealt: { cards: [TEXT], toTake: INT, canAvoid: FLAG },
  roomAvoided: { cards: [TEXT] },
  roomCleared: {},
  weaponEquipped: CARD,
  weaponSold: { card: TEXT, healed: INT },
  weaponStolen: CARD,
  weaponRepaired: { card: TEXT, removed: INT },
  weaponUpgraded: CARD,
  potionDrunk: POTION,
  potionWasted: CARD,
  potionStored: CARD,
  storedPotionDrunk: POTION,
  monsterFought: { card: TEXT, fight: TEXT, damage: INT, companionDamage: INT },
  cardDismissed: CARD,
  bearerRecruited: CARD,
  companionRecruited: { card: TEXT, health: INT },
  companionEquipped: CARD,
  companionDied: CARD,
  cardRecycled: PUT_BACK,
  cardReturned: PUT_BACK,
  gameOver: {
    outcome: TEXT, ruleset: RULESET, health: INT, lastCard: TEXT, lastCardUse: TEXT, healthBeforeLastCard: INT,
    dungeonMonsterValue: INT, roomMonsterValue: INT, moves: INT, startedAt: TEXT, mode: TEXT,
  },
};
const MOVE = { kind: TEXT, card: TEXT };
const ENTRY = { version: TEXT, recordedAt: TEXT, move: MOVE, facts: [FACT], rulesRevision: INT };
const DOCUMENT = {
  gameId: TEXT, playerId: TEXT, seed: TEXT, deck: [TEXT], score: OPTIONAL_INT, entries: [ENTRY], nextPageToken: TEXT,
};

// Unreadable says why a file is not a document at all, Difference where a document is not what it should be.
class Unreadable extends Error {}
class Difference extends Error {}

function difference(where, what, have, want) {
  return new Difference(`${where}: ${what}: have ${show(have)}, want ${want}`);
}

// show writes a value of the document; a long one is cut, as it may be anything.
function show(value) {
  if (value === undefined || value === '') return 'none';
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}...` : text;
}

// printable keeps whatever a document or a system's message holds on one line, and control codes off the terminal.
function printable(text) {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// read checks the type of a value and returns it with all of its messages' fields there: one that is absent in
// the document holds nothing, zero or false.
function read(value, type, path) {
  if (Array.isArray(type)) {
    if (!Array.isArray(value)) throw new Unreadable(`${path} is not a list`);
    return value.map((item, i) => read(item, type[0], `${path}[${i}]`));
  }
  if (typeof type === 'object') return readMessage(value, type, path);
  const ok = type === TEXT ? typeof value === 'string'
    : type === FLAG ? typeof value === 'boolean'
      : Number.isSafeInteger(value);
  if (!ok) throw new Unreadable(`${path} is not ${type}`);
  return value;
}

function readMessage(value, fields, path) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unreadable(`${path} is not an object`);
  }
  // Fields of other names are kept as they are, to be found when the message is compared. Without a prototype,
  // none of them can be taken for something that every object has.
  const message = Object.assign(Object.create(null), zeroes(fields));
  for (const [name, item] of Object.entries(value)) {
    message[name] = Object.hasOwn(fields, name) ? read(item, fields[name], `${path}.${name}`) : item;
  }
  return message;
}

function zeroes(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, zero(type)]));
}

function zero(type) {
  if (Array.isArray(type)) return [];
  return new Map([[TEXT, ''], [INT, 0], [FLAG, false]]).get(type); // undefined for what can be absent: a message
}

function readDocument(file) {
  try {
    // Bytes that are not UTF-8 are an error, not replaced.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
    return read(JSON.parse(text), DOCUMENT, 'document');
  } catch (error) {
    throw new Unreadable(error.message);
  }
}

// ---- Comparing ---------------------------------------------------------------------------------------------

// kindOf names what a fact is; a fact has one kind.
function kindOf(fact) {
  return fact && (Object.keys(fact).filter((kind) => fact[kind] !== undefined).join(' and ') || 'no kind');
}

// compareFact throws at the first field of a fact that is another. Either fact may be missing.
function compareFact(where, have, want) {
  const [haveKind, wantKind] = [kindOf(have), kindOf(want)];
  if (haveKind !== wantKind) throw difference(where, 'kind', haveKind, show(wantKind));
  compare(where, haveKind, have[haveKind], want[wantKind]);
}

function compare(where, what, have, want) {
  if (isMessage(have) && isMessage(want)) {
    for (const name of Object.keys({ ...want, ...have })) {
      if (!(name in want)) throw unknownField(where, `${what}.${name}`, have[name]);
      compare(where, `${what}.${name}`, have[name], want[name]);
    }
  } else if (!same(have, want)) {
    throw difference(where, what, have, show(want));
  }
}

// same compares scalars and lists of them.
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function isMessage(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownField(where, what, value) {
  return difference(where, what, value, 'no such field');
}

function refuseUnknownFields(where, message, fields) {
  for (const name of Object.keys(message)) {
    if (!Object.hasOwn(fields, name)) throw unknownField(where, name, message[name]);
  }
}

// ---- Cards, rulesets and the deck --------------------------------------------------------------------------

const RANKS = ['2', '3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K', 'A'];
const cardsOf = (suit, ranks, role) => ranks.map((rank) => [rank + suit, role]);

// What each card of the base deck is, in the order of the unshuffled deck, and the cards that follow if a variant
// plays with them.
const BASE_ROLES = [
  ...cardsOf('C', RANKS, 'monster'), ...cardsOf('S', RANKS, 'monster'),
  ...cardsOf('D', RANKS.slice(0, 9), 'weapon'), ...cardsOf('H', RANKS.slice(0, 9), 'potion'),
];
const VARIANT_CARDS = ['JD', 'QD', 'KD', 'AD', 'JH', 'QH', 'KH', 'AH', 'RJ', 'BJ'];

const HOME_RULES = 'VARIANT_HOME_RULES';
const VARIANTS = {
  VARIANT_MERCHANTS: { roles: { RJ: 'merchant', BJ: 'merchant' }, excludes: [HOME_RULES] },
  VARIANT_EVIL_MERCHANT: { roles: { BJ: 'thief' }, needs: 'VARIANT_MERCHANTS', excludes: [HOME_RULES] },
  VARIANT_BLACKSMITHS: {
    roles: { JD: 'blacksmith', QD: 'blacksmith', KD: 'blacksmith' }, excludes: ['VARIANT_PARTY', HOME_RULES],
  },
  VARIANT_PARTY: { roles: { JH: 'bearer', JD: 'fighter' }, excludes: [HOME_RULES] },
  VARIANT_HOME_RULES: {
    roles: {
      JD: 'blacksmith', QD: 'blacksmith', KD: 'blacksmith', AD: 'blacksmith',
      JH: 'merchant', QH: 'merchant', KH: 'merchant', AH: 'merchant', RJ: 'bearer', BJ: 'fighter',
    },
    excludes: [],
  },
};

const OPTIONS = {
  weaponWear: ['WEAPON_WEAR_AT_MOST_LAST_KILL', 'WEAPON_WEAR_BELOW_LAST_KILL'],
  ending: ['ENDING_PLAY_ALL_CARDS', 'ENDING_STOP_WHEN_ROOM_CANNOT_FILL'],
  winBonus: ['WIN_BONUS_LAST_POTION_AT_FULL_HEALTH', 'WIN_BONUS_LAST_POTION_OVERFLOW'],
  lossScore: [
    'LOSS_SCORE_HEALTH_MINUS_DUNGEON', 'LOSS_SCORE_HEALTH_MINUS_DUNGEON_AND_ROOM', 'LOSS_SCORE_DUNGEON_AND_ROOM_ONLY',
  ],
};

// checkRuleset throws unless games can be played by the ruleset.
function checkRuleset(ruleset) {
  const refuse = (name, want) => {
    throw difference('entry 1, fact 1', `gameStarted.ruleset${name}`, name ? ruleset[name.slice(1)] : undefined, want);
  };
  if (!ruleset) refuse('', 'a ruleset');
  for (const [option, values] of Object.entries(OPTIONS)) {
    if (!values.includes(ruleset[option])) refuse(`.${option}`, `one of ${values.join(', ')}`);
  }
  if (ruleset.depth < 0 || ruleset.depth > 9) refuse('.depth', '0 to 9');
  const set = ruleset.variants;
  if (!same(set, Object.keys(VARIANTS).filter((name) => set.includes(name)))) {
    refuse('.variants', `each of ${Object.keys(VARIANTS).join(', ')} once at most, in this order`);
  }
  for (const name of set) {
    const { needs, excludes } = VARIANTS[name];
    if (needs && !set.includes(needs)) refuse('.variants', `${needs} with ${name}`);
    const other = excludes.find((excluded) => set.includes(excluded));
    if (other) refuse('.variants', `${name} without ${other}`);
  }
  const most = set.includes(HOME_RULES) ? MAX_HEALTH : 0;
  if (ruleset.companionHealth < 0 || ruleset.companionHealth > most) refuse('.companionHealth', `0 to ${most}`);
}

// rolesBy returns what each card of a ruleset's deck is, in the order of the unshuffled deck.
function rolesBy(ruleset) {
  // The evil merchant follows the merchants, whose joker he is.
  const added = Object.assign({}, ...ruleset.variants.map((name) => VARIANTS[name].roles));
  return new Map([...BASE_ROLES, ...VARIANT_CARDS.filter((card) => added[card]).map((card) => [card, added[card]])]);
}

const rankOf = (card) => card.slice(0, -1);
const valueOf = (card) => (isJoker(card) ? 0 : RANKS.indexOf(rankOf(card)) + 2);
const isJoker = (card) => card === 'RJ' || card === 'BJ';

// Stream is the endless stream of bytes that a seed stands for. All chance of a game is drawn from it.
class Stream {
  constructor(seed) {
    this.seed = seed;
    this.position = 0; // of the next byte: how many are used up
  }

  byte() {
    const counter = Math.floor(this.position / 32);
    if (counter !== this.counter) {
      const suffix = Buffer.alloc(8);
      suffix.writeBigUInt64BE(BigInt(counter));
      this.block = sha256(this.seed, suffix);
      this.counter = counter;
    }
    return this.block[this.position++ % 32];
  }

  // uniform returns an integer from 0 to n-1. Bytes that would favour the small ones are skipped, and where there is
  // no choice none is used.
  uniform(n) {
    if (n === 1) return 0;
    for (;;) {
      const b = this.byte();
      if (b < 256 - (256 % n)) return b % n;
    }
  }
}

function sha256(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function shuffle(cards, stream) {
  const deck = [...cards];
  for (let i = deck.length - 1; i > 0; i--) {
    const j = stream.uniform(i + 1);
    [deck[i], deck[j]] = [deck[j], deck[i]];
  }
  return deck;
}

// ---- What facts do -----------------------------------------------------------------------------------------

function newGame(ruleset, deck, stream) {
  return {
    ruleset,
    roles: rolesBy(ruleset),
    home: ruleset.variants.includes(HOME_RULES),
    stream,
    dungeon: [...deck], // the top first
    room: [], // from the left
    toTake: 0, // cards of the room still to be taken
    canAvoid: false,
    potionUsed: false, // whether the room's allowance is used
    dealDue: false, // whether the room is left and the next one not dealt yet
    health: 0,
    moves: 0,
    weapon: undefined, // { card, kills, upgrades }, kills and upgrades oldest first
    companion: undefined, // { card, health, weapon }
    bearer: undefined, // the card
    stored: [], // the bearer's potions
    recycled: new Set(),
    over: undefined, // the gameOver fact, in the end
    started: false,
    entry: 0, // the entry at hand, and its facts so far
    facts: [],
  };
}

// happen applies a fact to the game and notes it.
function happen(game, kind, fact) {
  const fits = (ok, problem) => {
    const where = `entry ${game.entry}, fact ${game.facts.length + 1}`;
    if (!ok) throw difference(where, `${kind}, but ${problem}`, fact, 'a fact that fits');
  };
  fits(game.started === (kind !== 'gameStarted'), 'it is not the first fact and only that starts the game');
  fits(!game.over, 'the game is over');
  EFFECTS[kind](game, fact, fits);
  game.facts.push({ [kind]: fact });
}

// The effect of each kind of fact. What an option decided stands in the fact, so that facts of any revision of the
// rules can be applied. All that is asked of one is that it can have happened.
const EFFECTS = {
  gameStarted(game, fact, fits) {
    fits(fact.health >= 1 && fact.health <= MAX_HEALTH, 'the health is out of range');
    game.started = true;
    game.health = fact.health;
    game.dealDue = true;
  },
  roomDealt(game, fact, fits) {
    fits(game.dealDue, 'no room is due');
    const { length } = fact.cards;
    fits(game.room.length + length <= ROOM_SIZE, 'the room has no place for the cards');
    fits(same(fact.cards, game.dungeon.slice(0, length)), 'these are not the top cards of the dungeon');
    game.room.push(...game.dungeon.splice(0, length));
    fits(fact.toTake >= 1 && fact.toTake <= game.room.length, 'the number of cards to take is out of range');
    Object.assign(game, { toTake: fact.toTake, canAvoid: fact.canAvoid, potionUsed: false, dealDue: false });
  },
  roomAvoided(game, fact, fits) {
    fits(!game.dealDue && game.room.length > 0, 'there is no room');
    for (const card of fact.cards) {
      fits(remove(game.room, card), 'a card is not in the room');
      game.dungeon.push(card);
    }
    game.moves++;
    leaveRoom(game);
  },
  cardReturned(game, fact, fits) {
    fits(game.dealDue, 'no room was left');
    fits(remove(game.room, fact.card), 'the card is not in the room');
    putIntoDungeon(game, fact, fits);
  },
  cardRecycled(game, fact, fits) {
    take(game, fact, fits);
    game.recycled.add(fact.card);
    putIntoDungeon(game, fact, fits);
  },
  roomCleared(game, fact, fits) {
    fits(!game.dealDue && game.toTake === 0 && game.health > 0, 'the room is not faced to the end');
    leaveRoom(game);
  },
  weaponEquipped(game, fact, fits) {
    take(game, fact, fits);
    game.weapon = newWeapon(fact.card);
  },
  weaponSold(game, fact, fits) {
    fits(game.weapon, 'there is no weapon');
    take(game, fact, fits);
    game.weapon = undefined;
    heal(game, fact, fits);
  },
  weaponStolen(game, fact, fits) {
    fits(game.weapon?.card === fact.card, 'the player does not hold the weapon');
    game.weapon = undefined;
  },
  weaponRepaired(game, fact, fits) {
    const kills = game.weapon?.kills ?? [];
    fits(fact.removed >= 1 && fact.removed <= kills.length, 'the weapon does not carry as many monsters');
    take(game, fact, fits);
    kills.splice(-fact.removed);
  },
  weaponUpgraded(game, fact, fits) {
    fits(game.weapon, 'there is no weapon');
    take(game, fact, fits);
    game.weapon.upgrades.push(fact.card);
  },
  potionDrunk(game, fact, fits) {
    fits(fact.healthBefore === game.health, 'the health before was another');
    take(game, fact, fits);
    game.potionUsed = true;
    heal(game, fact, fits);
  },
  potionWasted: take,
  potionStored(game, fact, fits) {
    fits(game.bearer, 'there is no bearer');
    take(game, fact, fits);
    game.stored.push(fact.card);
  },
  storedPotionDrunk(game, fact, fits) {
    fits(isPlaying(game), 'the player is not to move');
    fits(fact.healthBefore === game.health, 'the health before was another');
    fits(remove(game.stored, fact.card), 'the bearer does not hold the card');
    game.moves++; // a move, although it takes no card of the room
    game.potionUsed = true;
    heal(game, fact, fits);
  },
  monsterFought(game, fact, fits) {
    fits(fact.damage >= 0 && fact.companionDamage >= 0, 'the damage is out of range');
    take(game, fact, fits);
    if (fact.fight !== 'FIGHT_KIND_BARE_HANDED') {
      const weapon = fact.fight === 'FIGHT_KIND_WITH_WEAPON' ? game.weapon
        : fact.fight === 'FIGHT_KIND_WITH_COMPANION' ? game.companion?.weapon : undefined;
      fits(weapon, 'there is no such weapon');
      weapon.kills.push(fact.card);
    }
    game.health -= fact.damage;
    if (game.companion) game.companion.health -= fact.companionDamage;
  },
  cardDismissed: take,
  bearerRecruited(game, fact, fits) {
    fits(!game.bearer, 'there is a bearer');
    take(game, fact, fits);
    game.bearer = fact.card;
  },
  companionRecruited(game, fact, fits) {
    fits(!game.companion, 'there is a companion');
    fits(fact.health >= 0 && fact.health <= MAX_HEALTH, 'the health is out of range');
    take(game, fact, fits);
    game.companion = { card: fact.card, health: fact.health, weapon: undefined };
  },
  companionEquipped(game, fact, fits) {
    fits(game.companion, 'there is no companion');
    take(game, fact, fits);
    game.companion.weapon = newWeapon(fact.card);
  },
  companionDied(game, fact, fits) {
    fits(game.companion?.card === fact.card, 'the companion is another');
    game.companion = undefined;
  },
  gameOver(game, fact, fits) {
    fits(['OUTCOME_WON', 'OUTCOME_LOST', 'OUTCOME_ABANDONED'].includes(fact.outcome), 'there is no such outcome');
    fits(fact.health === game.health && fact.moves === game.moves, 'the health or the number of moves is another');
    game.over = fact;
  },
};

const newWeapon = (card) => ({ card, kills: [], upgrades: [] });

// isPlaying says whether the player is to move: the game is on, and no fact of the last move is missing.
const isPlaying = (game) => game.started && !game.over && game.toTake > 0 && game.health > 0;

// take removes a card from the room, which is a move.
function take(game, fact, fits) {
  fits(isPlaying(game), 'no card can be taken');
  fits(remove(game.room, fact.card), 'the card is not in the room');
  game.moves++;
  game.toTake--;
  game.canAvoid = false;
}

// remove says whether the card was there.
function remove(cards, card) {
  const i = cards.indexOf(card);
  if (i >= 0) cards.splice(i, 1);
  return i >= 0;
}

function heal(game, fact, fits) {
  fits(fact.healed >= 0 && game.health + fact.healed <= MAX_HEALTH, 'the health healed is out of range');
  game.health += fact.healed;
}

function leaveRoom(game) {
  Object.assign(game, { toTake: 0, canAvoid: false, potionUsed: false, dealDue: true });
}

function putIntoDungeon(game, { card, position }, fits) {
  fits(position && position.index >= 0 && position.index <= game.dungeon.length, 'the position is out of range');
  // No game comes near so many bytes; without a bound a position could be past the integers that can be counted up.
  const { streamPosition } = position;
  fits(streamPosition >= game.stream.position && streamPosition <= 0xffff, 'the stream position is out of range');
  game.dungeon.splice(position.index, 0, card);
  game.stream.position = streamPosition;
}

// ---- The rules: which moves are legal, and which facts follow ----------------------------------------------

// thiefWaits says whether the thief strikes before a card of the room is taken. In a room that cannot be avoided he
// has struck already.
const thiefWaits = (game) => game.canAvoid && thiefInRoom(game);
const thiefInRoom = (game) => game.room.some((card) => game.roles.get(card) === 'thief');

const powerOf = (weapon) => weapon.upgrades.reduce((sum, card) => sum + valueOf(card) - 10, valueOf(weapon.card));

// highestTarget is the value of the highest monster that a weapon may hit.
function highestTarget(game, weapon) {
  if (weapon.kills.length === 0) return Infinity;
  const lastKill = valueOf(weapon.kills.at(-1));
  const below = game.ruleset.weaponWear === 'WEAPON_WEAR_BELOW_LAST_KILL' ? 1 : 0;
  const higher = weapon.upgrades.includes('AD') ? 1 : 0;
  return lastKill - below + higher;
}

// Each of these returns why a move cannot be made, or nothing.
const withoutWeapon = (game) => (!game.weapon ? 'no weapon is equipped'
  : thiefWaits(game) ? 'the thief steals the weapon first' : undefined);
const withoutCompanion = (game) => (!game.companion ? 'there is no companion' : undefined);
const beyond = (game, weapon, monster) => (
  valueOf(monster) > highestTarget(game, weapon) ? 'the weapon is worn' : undefined);
const unlessHome = (game) => (!game.home ? 'it needs the home rules' : undefined);

// What can be done: on which cards of the room, what speaks against it, and the fact of taking that card.
const TAKES = {
  MOVE_KIND_EQUIP: {
    on: ['weapon'],
    facts: (game, card) => happen(game, 'weaponEquipped', { card }),
  },
  MOVE_KIND_DRINK: {
    on: ['potion'],
    facts(game, card) {
      if (game.potionUsed) happen(game, 'potionWasted', { card });
      else happen(game, 'potionDrunk', drunk(game, card));
    },
  },
  MOVE_KIND_FIGHT_BARE_HANDED: {
    on: ['monster'],
    facts(game, card) {
      const damage = valueOf(card);
      happen(game, 'monsterFought', { card, fight: 'FIGHT_KIND_BARE_HANDED', damage, companionDamage: 0 });
    },
  },
  MOVE_KIND_FIGHT_WITH_WEAPON: {
    on: ['monster'],
    objection: (game, card) => withoutWeapon(game) ?? beyond(game, game.weapon, card),
    facts(game, card) {
      const damage = Math.max(0, valueOf(card) - powerOf(game.weapon));
      happen(game, 'monsterFought', { card, fight: 'FIGHT_KIND_WITH_WEAPON', damage, companionDamage: 0 });
    },
  },
  MOVE_KIND_DISMISS: {
    on: ['merchant', 'thief', 'blacksmith', 'bearer', 'fighter'],
    facts: (game, card) => happen(game, 'cardDismissed', { card }),
  },
  MOVE_KIND_SELL: {
    on: ['merchant'],
    objection: withoutWeapon,
    facts: (game, card) => happen(game, 'weaponSold', { card, healed: healing(game, price(game, card)) }),
  },
  MOVE_KIND_REPAIR: {
    on: ['blacksmith'],
    objection: (game) => withoutWeapon(game)
      ?? (game.weapon.kills.length === 0 ? 'no monster lies on the weapon' : undefined),
    facts(game, card) {
      const most = { J: 1, Q: 2, K: 3, A: Infinity }[rankOf(card)];
      happen(game, 'weaponRepaired', { card, removed: Math.min(most, game.weapon.kills.length) });
    },
  },
  MOVE_KIND_UPGRADE: {
    on: ['blacksmith'],
    objection: (game) => unlessHome(game) ?? withoutWeapon(game)
      ?? (game.weapon.kills.length > 0 ? 'a monster lies on the weapon' : undefined),
    facts: (game, card) => happen(game, 'weaponUpgraded', { card }),
  },
  MOVE_KIND_RECRUIT: {
    on: ['bearer', 'fighter'],
    facts(game, card) {
      if (game.roles.get(card) === 'bearer') happen(game, 'bearerRecruited', { card });
      else happen(game, 'companionRecruited', { card, health: game.ruleset.companionHealth });
    },
  },
  MOVE_KIND_STORE: {
    on: ['potion'],
    objection: (game) => (!game.bearer ? 'there is no bearer'
      : !game.home && game.stored.length > 0 ? 'the bearer holds a potion' : undefined),
    facts: (game, card) => happen(game, 'potionStored', { card }),
  },
  MOVE_KIND_EQUIP_COMPANION: {
    on: ['weapon'],
    objection: withoutCompanion,
    facts: (game, card) => happen(game, 'companionEquipped', { card }),
  },
  MOVE_KIND_FIGHT_WITH_COMPANION: {
    on: ['monster'],
    objection: (game, card) => withoutCompanion(game)
      ?? (!game.companion.weapon ? 'the companion has no weapon' : beyond(game, game.companion.weapon, card)),
    facts: fightWithCompanion,
  },
  MOVE_KIND_RECYCLE: {
    on: ['merchant', 'blacksmith'],
    objection: (game, card) => unlessHome(game)
      // A full room leaves one card over, only the last one none.
      ?? (game.room.length === game.toTake ? 'the room is the last'
        : game.recycled.has(card) ? 'the card has been put back before' : undefined),
    facts: (game, card) => putBack(game, 'cardRecycled', card),
  },
};

const healing = (game, n) => Math.min(n, MAX_HEALTH - game.health);
const drunk = (game, card) => ({ card, healed: healing(game, valueOf(card)), healthBefore: game.health });

// price is what a merchant heals for the weapon, the cap aside.
function price(game, merchant) {
  const { weapon } = game;
  if (game.home) {
    return Math.max(1, powerOf(weapon) - weapon.kills.length) + { J: 0, Q: 1, K: 3, A: 5 }[rankOf(merchant)];
  }
  return Math.min(powerOf(weapon), ...weapon.kills.map(valueOf));
}

// By the home rules the companion takes the damage, otherwise the player does.
function fightWithCompanion(game, card) {
  const { companion } = game;
  const damage = Math.max(0, valueOf(card) - powerOf(companion.weapon));
  const fight = 'FIGHT_KIND_WITH_COMPANION';
  if (!game.home) {
    happen(game, 'monsterFought', { card, fight, damage, companionDamage: 0 });
    return;
  }
  happen(game, 'monsterFought', { card, fight, damage: 0, companionDamage: damage });
  // Without health of his own any damage kills him, and none does not.
  if (damage > 0 && companion.health <= 0) happen(game, 'companionDied', { card: companion.card });
}

// putBack draws a place in the dungeon for a card.
function putBack(game, kind, card) {
  const index = game.stream.uniform(game.dungeon.length + 1);
  happen(game, kind, { card, position: { index, streamPosition: game.stream.position } });
}

// objection returns why a move is not legal, or nothing.
function objection(game, { kind, card }) {
  if (!isPlaying(game)) return 'the player is not to move';
  if (kind === 'MOVE_KIND_AVOID') {
    if (card !== '') return 'avoiding takes no card';
    return game.canAvoid ? undefined : 'the room cannot be avoided';
  }
  if (kind === 'MOVE_KIND_DRINK_STORED') {
    if (!game.stored.includes(card)) return 'the bearer does not hold the card';
    return game.potionUsed ? 'the allowance of the room is used' : undefined;
  }
  if (!Object.hasOwn(TAKES, kind)) return 'there is no such kind';
  if (!game.room.includes(card)) return 'the card is not in the room';
  const rule = TAKES[kind];
  if (!rule.on.includes(game.roles.get(card))) return 'it is not made with this card';
  return rule.objection?.(game, card);
}

// start, resign and move let happen what follows from each command.
function start(game, opening) {
  happen(game, 'gameStarted', opening);
  deal(game, true);
}

function resign(game) {
  end(game, 'OUTCOME_ABANDONED', { card: '', healthBefore: 0, use: '' });
}

function move(game, { kind, card }) {
  if (kind === 'MOVE_KIND_AVOID') {
    avoid(game);
  } else if (kind === 'MOVE_KIND_DRINK_STORED') {
    happen(game, 'storedPotionDrunk', drunk(game, card));
  } else {
    if (thiefWaits(game)) steal(game);
    const use = kind !== 'MOVE_KIND_DRINK' ? ''
      : game.potionUsed ? 'LAST_CARD_USE_POTION_WASTED' : 'LAST_CARD_USE_POTION_DRUNK';
    const last = { card, healthBefore: game.health, use };
    TAKES[kind].facts(game, card);
    closeRoom(game, last);
  }
}

function avoid(game) {
  // By the home rules blacksmiths and merchants go back anywhere, after the other cards have gone under.
  const returns = (card) => game.home && ['blacksmith', 'merchant'].includes(game.roles.get(card));
  const room = [...game.room];
  happen(game, 'roomAvoided', { cards: room.filter((card) => !returns(card)) });
  for (const card of room.filter(returns)) putBack(game, 'cardReturned', card);
  deal(game, false);
}

function closeRoom(game, last) {
  if (game.health <= 0) {
    end(game, 'OUTCOME_LOST', last);
    return;
  }
  if (game.toTake > 0) return;
  happen(game, 'roomCleared', {});
  const wasLastRoom = game.room.length === 0;
  const cannotFill = game.dungeon.length < TAKES_PER_FULL_ROOM;
  const stops = game.ruleset.ending === 'ENDING_STOP_WHEN_ROOM_CANNOT_FILL';
  if (wasLastRoom || (stops && cannotFill)) end(game, 'OUTCOME_WON', last);
  else deal(game, true);
}

function deal(game, mayAvoid) {
  const cards = game.dungeon.slice(0, ROOM_SIZE - game.room.length);
  const size = game.room.length + cards.length;
  const full = size === ROOM_SIZE;
  const canAvoid = full && mayAvoid;
  happen(game, 'roomDealt', { cards, toTake: full ? TAKES_PER_FULL_ROOM : size, canAvoid });
  if (!canAvoid && thiefInRoom(game)) steal(game);
}

function steal(game) {
  if (game.weapon) happen(game, 'weaponStolen', { card: game.weapon.card });
}

function end(game, outcome, last) {
  const monsterValue = (cards) => cards.filter((card) => game.roles.get(card) === 'monster')
    .reduce((sum, card) => sum + valueOf(card), 0);
  happen(game, 'gameOver', {
    outcome,
    ruleset: game.ruleset,
    health: game.health,
    lastCard: last.card,
    lastCardUse: last.use,
    healthBeforeLastCard: last.healthBefore,
    dungeonMonsterValue: monsterValue(game.dungeon),
    roomMonsterValue: monsterValue(game.room),
    moves: game.moves,
    startedAt: game.startedAt,
    mode: game.mode,
  });
}

// scoreOf returns the score of a game that ended as told, undefined if it has none.
function scoreOf(over) {
  const { health, dungeonMonsterValue: dungeon, roomMonsterValue: room } = over;
  switch (over.outcome) {
    case 'OUTCOME_WON': return health + bonus(over);
    case 'OUTCOME_LOST': return {
      LOSS_SCORE_HEALTH_MINUS_DUNGEON: health - dungeon,
      LOSS_SCORE_HEALTH_MINUS_DUNGEON_AND_ROOM: health - dungeon - room,
      LOSS_SCORE_DUNGEON_AND_ROOM_ONLY: 0 - dungeon - room,
    }[over.ruleset.lossScore];
    default: return undefined;
  }
}

function bonus(over) {
  const value = valueOf(over.lastCard);
  const pays = over.ruleset.winBonus === 'WIN_BONUS_LAST_POTION_AT_FULL_HEALTH'
    ? over.health === MAX_HEALTH && over.lastCardUse !== ''
    : over.lastCardUse === 'LAST_CARD_USE_POTION_DRUNK' && over.healthBeforeLastCard + value > MAX_HEALTH;
  return pays ? value : 0;
}

// ---- Verifying ---------------------------------------------------------------------------------------------

// verify throws a Difference, or returns what there is to say about the game.
function verify(document) {
  refuseUnknownFields('document', document, DOCUMENT);
  if (document.nextPageToken) {
    throw difference('document', 'nextPageToken', document.nextPageToken, 'none, as the document holds all entries');
  }
  const game = setUp(document);
  let folded = 0;
  let judged;
  for (const entry of document.entries) {
    judged = verifyEntry(game, entry);
    if (!judged) folded++;
  }
  if (!game.over) throw difference(`entry ${game.entry + 1}`, 'the game is not over', undefined, 'another entry');
  if (judged) verifyScore(game.over, document.score);
  const score = document.score === undefined ? 'no score' : `score ${document.score}`;
  const note = folded
    ? `; not judged, as other revisions of the rules decided them: ${folded} of ${game.entry} entries`
    : '';
  return `verified: ${document.gameId}, ${game.moves} moves, ${score}${note}`;
}

// setUp checks all that is settled before the first card is dealt, and returns the game at that moment.
function setUp({ seed, deck, entries }) {
  const first = entries[0]?.facts[0];
  if (kindOf(first) !== 'gameStarted') throw difference('entry 1, fact 1', 'kind', kindOf(first), '"gameStarted"');
  const { commitment, ruleset, mode } = first.gameStarted;
  // In upper case it would be the same seed, but not the document that was exported.
  if (!/^[0-9a-f]{64}$/.test(seed)) throw difference('seed', 'text', seed, '64 lower-case hex digits');
  const bytes = Buffer.from(seed, 'hex');
  const promised = sha256('scoundrel/v1', bytes).toString('hex');
  if (commitment !== promised) throw difference('commitment', 'that of the seed', commitment, show(promised));
  checkRuleset(ruleset);
  if (!['GAME_MODE_RANDOM', 'GAME_MODE_SEEDED'].includes(mode)) {
    throw difference('entry 1, fact 1', 'gameStarted.mode', mode, 'GAME_MODE_RANDOM or GAME_MODE_SEEDED');
  }
  const stream = new Stream(bytes);
  const shuffled = shuffle(rolesBy(ruleset).keys(), stream);
  for (let i = 0; i < Math.max(deck.length, shuffled.length); i++) {
    if (deck[i] !== shuffled[i]) throw difference('deck', `card ${i + 1}`, deck[i], show(shuffled[i]));
  }
  // Only the known fields of the ruleset: another one in the document's is found when the fact is compared.
  const known = Object.fromEntries(Object.keys(RULESET).map((name) => [name, ruleset[name]]));
  return Object.assign(newGame(known, shuffled, stream), { commitment, mode, startedAt: entries[0].recordedAt });
}

// verifyEntry plays the entry and says whether it could be judged. One that other rules decided cannot: then its
// facts are taken as they are, if they fit.
function verifyEntry(game, entry) {
  game.entry++;
  game.facts = [];
  const where = `entry ${game.entry}`;
  refuseUnknownFields(where, entry, ENTRY);
  if (entry.move) refuseUnknownFields(where, entry.move, MOVE);
  if (entry.version !== String(game.entry)) throw difference(where, 'version', entry.version, `"${game.entry}"`);
  if (game.over) throw difference(where, 'the game is over', entry.version, 'no entry');
  if (entry.rulesRevision < 1) throw difference(where, 'rulesRevision', entry.rulesRevision, '1 or more');
  if (entry.rulesRevision !== RULES_REVISION) {
    for (const fact of entry.facts) fold(game, fact);
    return false;
  }
  command(game, entry.move, where);
  const want = game.facts.map((fact, i) => read(fact, FACT, `${where}, fact ${i + 1}`));
  for (let i = 0; i < Math.max(want.length, entry.facts.length); i++) {
    compareFact(`${where}, fact ${i + 1}`, entry.facts[i], want[i]);
  }
  return true;
}

// command lets happen what the rules make of an entry's move. The first entry is the start; a later one without a
// move is a resignation.
function command(game, wish, where) {
  if (game.entry === 1) {
    if (wish) throw difference(where, 'move', wish, 'none at the start');
    const { mode, ruleset, commitment } = game;
    const health = MAX_HEALTH - 2 * ruleset.depth;
    start(game, { mode, ruleset, health, dungeonSize: game.dungeon.length, commitment });
  } else if (!wish) {
    resign(game);
  } else {
    const problem = objection(game, wish);
    if (problem) throw difference(where, `move, but ${problem}`, `${wish.kind} ${wish.card}`.trim(), 'a legal move');
    move(game, wish);
  }
}

function fold(game, fact) {
  const kind = kindOf(fact);
  if (!Object.hasOwn(EFFECTS, kind)) {
    throw difference(`entry ${game.entry}, fact ${game.facts.length + 1}`, 'kind', kind, 'one that is known');
  }
  happen(game, kind, fact[kind]);
}

function verifyScore(over, score) {
  const want = scoreOf(over);
  if (score !== want) throw difference('score', `after ${over.outcome}`, score, show(want));
}

// ---- The command line --------------------------------------------------------------------------------------

// report verifies a file, prints its line and returns its exit status.
function report(file) {
  let line;
  let status;
  try {
    line = verify(readDocument(file));
    status = 0;
  } catch (error) {
    // Neither of the two can only mean a document beyond this program's means, such as one nested thousands deep.
    status = error instanceof Difference ? 1 : 2;
    line = status === 1 ? error.message : `cannot be read: ${error.message}`;
  }
  console.log(printable(`${file}: ${line}`));
  return status;
}

const files = process.argv.slice(2);
if (files.length === 0) console.error('usage: node verify.mjs FILE...');
process.exitCode = files.length === 0 ? 2 : Math.max(...files.map(report));
