// Verifies finished games of Scoundrel without trusting the server that ran them: the seed is the one that
// was committed to, the deck is its shuffle, every move was legal, everything that happened is what the rules
// make of the moves, and the score is the rules' score.
//
// Run it with Node.js 18 or later; it needs nothing else:
//
//     node verify.mjs FILE...
//
// It prints one line a file; - is standard input. The exit status is that of the worst file: 2 if it cannot be read,
// 1 if it differs, 3 if some of its entries were decided by rules that nobody here knows, 0 if it is verified.
//
// The document that a FILE holds, what is checked and in which order: verifiers/README.md.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const RULES_REVISION = 1; // what this file knows the rules of
const MAX_HEALTH = 20;
const MAX_DEPTH = 9;
const ROOM_SIZE = 4;
const TAKES_PER_FULL_ROOM = 3;

// A game has room for no more, whatever its rules.
const MOST = {
  moves: 255, kills: 26, upgrades: 4, stored: 9, damage: 14, monsterValue: 208, streamPosition: 0xffff,
};

// ---- Reading the document ----------------------------------------------------------------------------------

// The types of fields: a scalar's says what a document can hold (is), how it is shown, and what an absent field is. A
// list is written [type], a message as an object of its fields' types in the order in which they are compared.
const isText = (value) => typeof value === 'string' && !/\p{Surrogate}/u.test(value); // half a character is none
const TEXT = { name: 'a string', zero: '', is: isText, show: quote };
const FLAG = { name: 'true or false', zero: false, is: (value) => typeof value === 'boolean', show: String };
const INT = integer(-(2 ** 31), 2 ** 31 - 1);
const COUNT = integer(0, 2 ** 32 - 1);
const OPTIONAL_INT = { ...INT, zero: undefined, show: (value) => String(value ?? 'nothing') };
// A string, as JSON knows no integers of 64 bits.
const VERSION = {
  name: 'an integer of 64 bits in a string',
  zero: '0',
  is: (value) => typeof value === 'string' && /^[1-9][0-9]{0,19}$/.test(value) && BigInt(value) < 2n ** 64n,
  show: String,
};
const TIME = { name: 'a time', zero: undefined, is: isTime, show: quote }; // never absent

function integer(low, high) {
  const is = (value) => Number.isInteger(value) && value >= low && value <= high;
  return { name: `an integer from ${low} to ${high}`, zero: 0, is, show: String };
}

function names(prefix, ...list) {
  const all = ['UNSPECIFIED', ...list].map((name) => `${prefix}_${name}`);
  return { name: `a name of ${prefix}`, zero: all[0], is: (value) => all.includes(value), show: String };
}

// isTime says whether a value is a time in RFC 3339, in UTC, with no digit too many.
function isTime(value) {
  const match = typeof value === 'string'
    && /^((?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8})(\.([0-9]{3}){0,2}(?!000)[0-9]{3})?Z$/.exec(value);
  if (!match) return false;
  const time = new Date(`${match[1]}Z`);
  return !Number.isNaN(time.valueOf()) && time.toISOString().startsWith(match[1]);
}

const CARD = { card: TEXT };
const POTION = { card: TEXT, healed: INT, healthBefore: INT };
const PUT_BACK = { card: TEXT, position: { index: COUNT, streamPosition: COUNT } };
const MODE = names('GAME_MODE', 'RANDOM', 'SEEDED', 'DAILY');
const RULESET = {
  weaponWear: names('WEAPON_WEAR', 'AT_MOST_LAST_KILL', 'BELOW_LAST_KILL'),
  ending: names('ENDING', 'PLAY_ALL_CARDS', 'STOP_WHEN_ROOM_CANNOT_FILL'),
  winBonus: names('WIN_BONUS', 'LAST_POTION_AT_FULL_HEALTH', 'LAST_POTION_OVERFLOW'),
  lossScore: names('LOSS_SCORE', 'HEALTH_MINUS_DUNGEON', 'HEALTH_MINUS_DUNGEON_AND_ROOM', 'DUNGEON_AND_ROOM_ONLY'),
  depth: COUNT,
  variants: [names('VARIANT', 'MERCHANTS', 'EVIL_MERCHANT', 'BLACKSMITHS', 'PARTY', 'HOME_RULES')],
  companionHealth: COUNT,
};
const FACT = {
  gameStarted: { mode: MODE, ruleset: RULESET, health: INT, dungeonSize: COUNT, commitment: TEXT },
  roomDealt: { cards: [TEXT], toTake: COUNT, canAvoid: FLAG },
  roomAvoided: { cards: [TEXT] },
  roomCleared: {},
  weaponEquipped: CARD,
  weaponSold: { card: TEXT, healed: INT },
  weaponStolen: CARD,
  weaponRepaired: { card: TEXT, removed: COUNT },
  weaponUpgraded: CARD,
  potionDrunk: POTION,
  potionWasted: CARD,
  potionStored: CARD,
  storedPotionDrunk: POTION,
  monsterFought: {
    card: TEXT,
    fight: names('FIGHT_KIND', 'BARE_HANDED', 'WITH_WEAPON', 'WITH_COMPANION'),
    damage: INT,
    companionDamage: INT,
  },
  cardDismissed: CARD,
  bearerRecruited: CARD,
  companionRecruited: { card: TEXT, health: INT },
  companionEquipped: CARD,
  companionDied: CARD,
  cardRecycled: PUT_BACK,
  cardReturned: PUT_BACK,
  gameOver: {
    outcome: names('OUTCOME', 'WON', 'LOST', 'ABANDONED'),
    ruleset: RULESET,
    health: INT,
    lastCard: TEXT,
    lastCardUse: names('LAST_CARD_USE', 'POTION_DRUNK', 'POTION_WASTED'),
    healthBeforeLastCard: INT,
    dungeonMonsterValue: COUNT,
    roomMonsterValue: COUNT,
    moves: COUNT,
    startedAt: TIME,
    mode: MODE,
  },
};
const MOVE = {
  kind: names(
    'MOVE_KIND', 'AVOID', 'EQUIP', 'DRINK', 'FIGHT_BARE_HANDED', 'FIGHT_WITH_WEAPON', 'DISMISS', 'SELL', 'REPAIR',
    'UPGRADE', 'RECRUIT', 'STORE', 'DRINK_STORED', 'EQUIP_COMPANION', 'FIGHT_WITH_COMPANION', 'RECYCLE',
  ),
  card: TEXT,
};
const ENTRY = { version: VERSION, recordedAt: TIME, move: MOVE, facts: [FACT], rulesRevision: COUNT };
const DOCUMENT = {
  gameId: TEXT, playerId: TEXT, seed: TEXT, deck: [TEXT], score: OPTIONAL_INT, entries: [ENTRY], nextPageToken: TEXT,
};

const isScalar = (type) => 'is' in type;
// Of these alone a document can do without: an entry's move, and all kinds of a fact but one.
const isOptional = (type) => type === MOVE || Object.values(FACT).includes(type);

// Unreadable says why a file is not a document at all, Difference where a document is not what it should be.
class Unreadable extends Error {}
class Difference extends Error {}

function difference(where, what, have, want) {
  return new Difference([where, what, `have ${have}, want ${want}`].filter((part) => part !== '').join(': '));
}

// plain writes a text of the document on one line, short and without a second meaning.
function plain(text) {
  return [...text].slice(0, 100).join('').replace(/[^ -~]|["\\]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

function quote(text) {
  return `"${plain(text)}"`;
}

// read checks the type of a value and returns it with all of its messages' fields there: one that is absent in
// the document holds nothing, zero or false.
function read(value, type, path) {
  if (Array.isArray(type)) {
    if (!Array.isArray(value)) throw new Unreadable(`${path} is not a list`);
    return value.map((item, i) => read(item, type[0], `${path}[${i}]`));
  }
  if (!isScalar(type)) return readMessage(value, type, path);
  if (!type.is(value)) throw new Unreadable(`${path} is not ${type.name}`);
  return value;
}

function readMessage(value, fields, path) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unreadable(`${path} is not an object`);
  }
  if (fields === FACT && Object.keys(value).length > 1) throw new Unreadable(`${path} has more than one kind`);
  const message = zeroes(fields);
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(fields, name)) throw new Unreadable(`${path} has the unknown field ${quote(name)}`);
    const type = fields[name];
    message[name] = read(item, type, `${path}.${name}`);
    if (Array.isArray(type) ? item.length === 0 : isScalar(type) && item === type.zero) {
      throw new Unreadable(`${path}.${name} is 0, empty or false: then it is left out`);
    }
  }
  for (const [name, type] of Object.entries(fields)) {
    if (type === TIME && message[name] === undefined) throw new Unreadable(`${path}.${name} is missing`);
  }
  return message;
}

function zeroes(fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, zero(type)]));
}

function zero(type) {
  if (Array.isArray(type)) return [];
  if (isScalar(type)) return type.zero;
  return isOptional(type) ? undefined : zeroes(type);
}

// parse is JSON.parse, but for what that reads as something else than it says.
function parse(text) {
  let fields = 0;
  const value = JSON.parse(text, function count(name, item) {
    if (!Array.isArray(this)) fields++;
    return item;
  });
  let names = 1; // the value as a whole counts as a field
  const rest = text.replace(/"(?:\\.|[^"\\])*"(\s*:)?/g, (string, colon) => {
    if (colon) names++;
    return '';
  });
  if (names !== fields) throw new Unreadable('an object has two fields of the same name');
  if (/\d[.eE]|-0/.test(rest)) throw new Unreadable('a number is not written as an integer');
  return value;
}

function readDocument(file) {
  try {
    // Bytes that are not UTF-8 are an error, not replaced.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return read(parse(decoder.decode(readFileSync(file === '-' ? 0 : file))), DOCUMENT, 'document');
  } catch (error) {
    throw new Unreadable(error.message);
  }
}

// ---- Comparing ---------------------------------------------------------------------------------------------

// kindOf names what a fact is, for people if it is nothing.
function kindOf(fact) {
  return fact ? Object.keys(fact).find((kind) => fact[kind] !== undefined) ?? 'no kind' : 'nothing';
}

// compareFact throws at the first field of a fact that is another. Either fact may be missing.
function compareFact(where, have, want) {
  const [haveKind, wantKind] = [kindOf(have), kindOf(want)];
  if (haveKind !== wantKind) throw difference(where, 'kind', haveKind, wantKind);
  compare(where, haveKind, FACT[haveKind], have[haveKind], want[haveKind]);
}

function compare(where, path, fields, have, want) {
  for (const [name, type] of Object.entries(fields)) {
    const what = `${path}.${name}`;
    const [a, b] = [have[name], want[name]];
    if (!Array.isArray(type) && !isScalar(type)) compare(where, what, type, a, b);
    else if (!same(a, b)) throw difference(where, what, show(type, a), show(type, b));
  }
}

// same compares scalars and lists of them.
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function show(type, value) {
  return Array.isArray(type) ? `[${value.map((item) => show(type[0], item)).join(' ')}]` : type.show(value);
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
const PARTY = 'VARIANT_PARTY';
const VARIANTS = {
  VARIANT_MERCHANTS: { roles: { RJ: 'merchant', BJ: 'merchant' }, excludes: [HOME_RULES] },
  VARIANT_EVIL_MERCHANT: { roles: { BJ: 'thief' }, needs: 'VARIANT_MERCHANTS', excludes: [HOME_RULES] },
  VARIANT_BLACKSMITHS: {
    roles: { JD: 'blacksmith', QD: 'blacksmith', KD: 'blacksmith' }, excludes: [PARTY, HOME_RULES],
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

// How a ruleset's id is spelled: the name of the preset, or else the four options' words.
const OPTION_WORDS = {
  weaponWear: { WEAPON_WEAR_AT_MOST_LAST_KILL: 'atmost', WEAPON_WEAR_BELOW_LAST_KILL: 'below' },
  ending: { ENDING_PLAY_ALL_CARDS: 'playall', ENDING_STOP_WHEN_ROOM_CANNOT_FILL: 'stopshort' },
  winBonus: { WIN_BONUS_LAST_POTION_AT_FULL_HEALTH: 'fullhealth', WIN_BONUS_LAST_POTION_OVERFLOW: 'overflow' },
  lossScore: {
    LOSS_SCORE_HEALTH_MINUS_DUNGEON: 'dungeon',
    LOSS_SCORE_HEALTH_MINUS_DUNGEON_AND_ROOM: 'dungeonroom',
    LOSS_SCORE_DUNGEON_AND_ROOM_ONLY: 'leftonly',
  },
};
const PRESETS = {
  'atmost.playall.fullhealth.dungeon': 'classic',
  'below.playall.fullhealth.dungeon': 'strict',
  'below.stopshort.fullhealth.leftonly': 'tabletop',
  'atmost.playall.overflow.dungeonroom': 'digital',
};

// isValid says whether games can be played by the ruleset.
function isValid({ depth, variants, companionHealth, ...options }) {
  return Object.entries(OPTION_WORDS).every(([option, words]) => options[option] in words)
    && depth <= MAX_DEPTH
    && same(variants, Object.keys(VARIANTS).filter((name) => variants.includes(name))) // each once, in order
    && variants.every((name) => {
      const { needs, excludes } = VARIANTS[name];
      return (!needs || variants.includes(needs)) && !excludes.some((other) => variants.includes(other));
    })
    && companionHealth <= (variants.includes(HOME_RULES) ? MAX_HEALTH : 0);
}

function idOf(ruleset) {
  const words = Object.entries(OPTION_WORDS).map(([option, word]) => word[ruleset[option]]).join('.');
  return [
    PRESETS[words] ?? words,
    ...ruleset.variants.map((name) => name.slice('VARIANT_'.length).toLowerCase()).sort(),
    ...(ruleset.companionHealth > 0 ? [`companion${ruleset.companionHealth}`] : []),
    ...(ruleset.depth > 0 ? [`depth${ruleset.depth}`] : []),
  ].join('+');
}

// rolesBy returns what each card of a ruleset's deck is, in the order of the unshuffled deck.
function rolesBy(ruleset) {
  // The evil merchant follows the merchants, whose joker he is.
  const added = Object.assign({}, ...ruleset.variants.map((name) => VARIANTS[name].roles));
  return new Map([...BASE_ROLES, ...VARIANT_CARDS.filter((card) => added[card]).map((card) => [card, added[card]])]);
}

const rankOf = (card) => card.slice(0, -1);
// Jokers are worth nothing, and so is no card.
const valueOf = (card) => (RANKS.includes(rankOf(card)) ? RANKS.indexOf(rankOf(card)) + 2 : 0);
const isCard = (text) => BASE_ROLES.some(([card]) => card === text) || VARIANT_CARDS.includes(text);

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
    party: ruleset.variants.includes(HOME_RULES) || ruleset.variants.includes(PARTY),
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
    folded: 0, // how many entries were not judged
  };
}

// Misfit is a fact that cannot have happened where the game stood, or a move that cannot be made there.
class Misfit extends Error {}

function fits(ok) {
  if (!ok) throw new Misfit();
}

// happen applies a fact to the game and notes it.
function happen(game, kind, fact) {
  fits(game.started === (kind !== 'gameStarted') && !game.over);
  EFFECTS[kind](game, fact);
  game.facts.push({ [kind]: fact });
}

// The effect of each kind of fact. What an option decided stands in the fact, so that facts of any revision of the
// rules can be applied. All that is asked of one is that it can have happened.
const EFFECTS = {
  gameStarted(game, fact) {
    fits(fact.health >= 1 && fact.health <= MAX_HEALTH);
    game.started = true;
    game.health = fact.health;
    game.dealDue = true;
  },
  roomDealt(game, fact) {
    fits(game.dealDue);
    const { length } = fact.cards;
    fits(game.room.length + length <= ROOM_SIZE);
    fits(same(fact.cards, game.dungeon.slice(0, length)));
    game.room.push(...game.dungeon.splice(0, length));
    fits(fact.toTake >= 1 && fact.toTake <= game.room.length);
    Object.assign(game, { toTake: fact.toTake, canAvoid: fact.canAvoid, potionUsed: false, dealDue: false });
  },
  roomAvoided(game, fact) {
    fits(!game.dealDue && game.room.length > 0);
    for (const card of fact.cards) {
      fits(remove(game.room, card));
      game.dungeon.push(card);
    }
    countMove(game);
    leaveRoom(game);
  },
  cardReturned(game, fact) {
    fits(game.dealDue);
    fits(remove(game.room, fact.card));
    putIntoDungeon(game, fact);
  },
  cardRecycled(game, fact) {
    take(game, fact);
    game.recycled.add(fact.card);
    putIntoDungeon(game, fact);
  },
  roomCleared(game, fact) {
    fits(!game.dealDue && game.toTake === 0 && game.health > 0);
    leaveRoom(game);
  },
  weaponEquipped(game, fact) {
    take(game, fact);
    game.weapon = newWeapon(fact.card);
  },
  weaponSold(game, fact) {
    fits(game.weapon);
    take(game, fact);
    game.weapon = undefined;
    heal(game, fact);
  },
  weaponStolen(game, fact) {
    fits(game.weapon?.card === fact.card);
    game.weapon = undefined;
  },
  weaponRepaired(game, fact) {
    const kills = game.weapon?.kills ?? [];
    fits(fact.removed >= 1 && fact.removed <= kills.length);
    take(game, fact);
    kills.splice(-fact.removed);
  },
  weaponUpgraded(game, fact) {
    fits(game.weapon && game.weapon.upgrades.length < MOST.upgrades);
    take(game, fact);
    game.weapon.upgrades.push(fact.card);
  },
  potionDrunk(game, fact) {
    fits(fact.healthBefore === game.health);
    take(game, fact);
    game.potionUsed = true;
    heal(game, fact);
  },
  potionWasted: take,
  potionStored(game, fact) {
    fits(game.bearer && game.stored.length < MOST.stored);
    take(game, fact);
    game.stored.push(fact.card);
  },
  storedPotionDrunk(game, fact) {
    fits(isPlaying(game));
    fits(fact.healthBefore === game.health);
    fits(remove(game.stored, fact.card));
    countMove(game); // although it takes no card of the room
    game.potionUsed = true;
    heal(game, fact);
  },
  monsterFought(game, fact) {
    for (const damage of [fact.damage, fact.companionDamage]) fits(damage >= 0 && damage <= MOST.damage);
    take(game, fact);
    if (fact.fight !== 'FIGHT_KIND_BARE_HANDED') {
      const weapon = fact.fight === 'FIGHT_KIND_WITH_WEAPON' ? game.weapon
        : fact.fight === 'FIGHT_KIND_WITH_COMPANION' ? game.companion?.weapon : undefined;
      fits(weapon && weapon.kills.length < MOST.kills);
      weapon.kills.push(fact.card);
    }
    game.health -= fact.damage;
    if (game.companion) game.companion.health -= fact.companionDamage;
  },
  cardDismissed: take,
  bearerRecruited(game, fact) {
    fits(!game.bearer);
    take(game, fact);
    game.bearer = fact.card;
  },
  companionRecruited(game, fact) {
    fits(!game.companion);
    fits(fact.health >= 0 && fact.health <= MAX_HEALTH);
    take(game, fact);
    game.companion = { card: fact.card, health: fact.health, weapon: undefined };
  },
  companionEquipped(game, fact) {
    fits(game.companion);
    take(game, fact);
    game.companion.weapon = newWeapon(fact.card);
  },
  companionDied(game, fact) {
    fits(game.companion?.card === fact.card);
    game.companion = undefined;
  },
  gameOver(game, fact) {
    fits(['OUTCOME_WON', 'OUTCOME_LOST', 'OUTCOME_ABANDONED'].includes(fact.outcome));
    fits(fact.health === game.health && fact.moves === game.moves);
    fits(fact.lastCard === '' || isCard(fact.lastCard));
    fits(fact.healthBeforeLastCard >= 0 && fact.healthBeforeLastCard <= MAX_HEALTH);
    fits(fact.dungeonMonsterValue + fact.roomMonsterValue <= MOST.monsterValue);
    game.over = fact;
  },
};

const newWeapon = (card) => ({ card, kills: [], upgrades: [] });

// isPlaying says whether the player is to move: the game is on, and no fact of the last move is missing.
const isPlaying = (game) => game.started && !game.over && game.toTake > 0 && game.health > 0;

// take removes a card from the room, which is a move.
function take(game, fact) {
  fits(isPlaying(game));
  fits(remove(game.room, fact.card));
  countMove(game);
  game.toTake--;
  game.canAvoid = false;
}

function countMove(game) {
  fits(game.moves < MOST.moves);
  game.moves++;
}

// remove says whether the card was there.
function remove(cards, card) {
  const i = cards.indexOf(card);
  if (i >= 0) cards.splice(i, 1);
  return i >= 0;
}

function heal(game, fact) {
  fits(fact.healed >= 0 && game.health + fact.healed <= MAX_HEALTH);
  game.health += fact.healed;
}

function leaveRoom(game) {
  Object.assign(game, { toTake: 0, canAvoid: false, potionUsed: false, dealDue: true });
}

function putIntoDungeon(game, { card, position }) {
  const { index, streamPosition } = position;
  fits(index <= game.dungeon.length);
  fits(streamPosition >= game.stream.position && streamPosition <= MOST.streamPosition);
  game.dungeon.splice(index, 0, card);
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

const isArmed = (game) => game.weapon && !thiefWaits(game);
const canHit = (game, weapon, monster) => weapon && valueOf(monster) <= highestTarget(game, weapon);

// What can be done: on which cards of the room, when if not always, and the fact of taking that card.
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
    when: (game, card) => isArmed(game) && canHit(game, game.weapon, card),
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
    when: isArmed,
    facts: (game, card) => happen(game, 'weaponSold', { card, healed: healing(game, price(game, card)) }),
  },
  MOVE_KIND_REPAIR: {
    on: ['blacksmith'],
    when: (game) => isArmed(game) && game.weapon.kills.length > 0,
    facts(game, card) {
      const most = { J: 1, Q: 2, K: 3, A: Infinity }[rankOf(card)];
      happen(game, 'weaponRepaired', { card, removed: Math.min(most, game.weapon.kills.length) });
    },
  },
  MOVE_KIND_UPGRADE: {
    on: ['blacksmith'],
    when: (game) => game.home && isArmed(game) && game.weapon.kills.length === 0,
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
    when: (game) => game.party && game.bearer && (game.home || game.stored.length === 0),
    facts: (game, card) => happen(game, 'potionStored', { card }),
  },
  MOVE_KIND_EQUIP_COMPANION: {
    on: ['weapon'],
    when: (game) => game.party && game.companion,
    facts: (game, card) => happen(game, 'companionEquipped', { card }),
  },
  MOVE_KIND_FIGHT_WITH_COMPANION: {
    on: ['monster'],
    when: (game, card) => game.party && canHit(game, game.companion?.weapon, card),
    facts: fightWithCompanion,
  },
  MOVE_KIND_RECYCLE: {
    on: ['merchant', 'blacksmith'],
    // A full room leaves one card over, only the last one none.
    when: (game, card) => game.home && game.toTake < game.room.length && !game.recycled.has(card),
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

// isLegal says whether a move can be made.
function isLegal(game, { kind, card }) {
  if (!isPlaying(game)) return false;
  if (kind === 'MOVE_KIND_AVOID') return card === '' && game.canAvoid;
  if (kind === 'MOVE_KIND_DRINK_STORED') return game.party && game.stored.includes(card) && !game.potionUsed;
  const { on, when } = TAKES[kind];
  return game.room.includes(card) && on.includes(game.roles.get(card)) && (!when || when(game, card));
}

// start, resign and move let happen what follows from each command.
function start(game, opening) {
  happen(game, 'gameStarted', opening);
  deal(game, true);
}

const NO_USE = FACT.gameOver.lastCardUse.zero;

function resign(game) {
  end(game, 'OUTCOME_ABANDONED', { card: '', healthBefore: 0, use: NO_USE });
}

function move(game, { kind, card }) {
  if (kind === 'MOVE_KIND_AVOID') {
    avoid(game);
  } else if (kind === 'MOVE_KIND_DRINK_STORED') {
    happen(game, 'storedPotionDrunk', drunk(game, card));
  } else {
    if (thiefWaits(game)) steal(game);
    const use = kind !== 'MOVE_KIND_DRINK' ? NO_USE
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

// What the end of a game repeats of its start, and the start of what was there before.
const repeated = ({ ruleset, startedAt, mode }) => ({ ruleset, startedAt, mode });
const opening = ({ ruleset, roles, commitment, mode }) => ({ ruleset, dungeonSize: roles.size, commitment, mode });

function end(game, outcome, last) {
  const monsterValue = (cards) => cards.filter((card) => game.roles.get(card) === 'monster')
    .reduce((sum, card) => sum + valueOf(card), 0);
  happen(game, 'gameOver', {
    outcome,
    health: game.health,
    lastCard: last.card,
    lastCardUse: last.use,
    healthBeforeLastCard: last.healthBefore,
    dungeonMonsterValue: monsterValue(game.dungeon),
    roomMonsterValue: monsterValue(game.room),
    moves: game.moves,
    ...repeated(game),
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
    ? over.health === MAX_HEALTH && over.lastCardUse !== NO_USE
    : over.lastCardUse === 'LAST_CARD_USE_POTION_DRUNK' && over.healthBeforeLastCard + value > MAX_HEALTH;
  return pays ? value : 0;
}

// ---- Verifying ---------------------------------------------------------------------------------------------

// The exit statuses, from the best to the worst.
const [VERIFIED, NOT_JUDGED, DIFFERENT, UNREADABLE] = [0, 3, 1, 2];
const STATUSES = [VERIFIED, NOT_JUDGED, DIFFERENT, UNREADABLE];

// verify throws a Difference, or returns the exit status and what there is to say about the game.
function verify(document) {
  const { seed, entries, nextPageToken } = document;
  if (seed === '' && !entries.some(({ facts }) => facts.some((fact) => fact.gameOver))) {
    throw new Difference('the game is not over: its seed is revealed when it is');
  }
  if (seed === '' && entries[0]?.facts[0]?.gameStarted?.mode === 'GAME_MODE_DAILY') {
    throw new Difference('the daily challenge of this game is not final: its seed is revealed one hour after its day (UTC)');
  }
  if (nextPageToken !== '') {
    throw difference('', 'nextPageToken', quote(nextPageToken), 'nothing: all pages in one document');
  }
  // In upper case it would be the same seed, but not the document that was exported.
  if (!/^[0-9a-f]{64}$/.test(seed)) throw difference('', 'seed', quote(seed), '64 lower-case hexadecimal digits');
  if (entries.length === 0) throw difference('entry 1', '', 'nothing', 'the start of the game');
  const game = setUp(document);
  for (const entry of entries) verifyEntry(game, entry);
  if (!game.over) throw difference(`entry ${game.entry + 1}`, '', 'nothing', 'the game to go on to its end');
  const score = scoreOf(game.over);
  if (document.score !== score) {
    throw difference('', 'score', OPTIONAL_INT.show(document.score), OPTIONAL_INT.show(score));
  }
  const result = score === undefined ? 'no score' : `score ${score}`;
  const text = `${plain(document.gameId)}, ${idOf(game.ruleset)}, ${game.moves} moves, ${result}`;
  if (game.folded === 0) return [VERIFIED, `verified: ${text}`];
  const count = `${game.folded} of ${entries.length}`;
  return [NOT_JUDGED, `not judged: ${text}; ${count} entries are not of rules revision ${RULES_REVISION}`];
}

// setUp checks all that is settled before the first card is dealt, and returns the game at that moment.
function setUp({ seed, deck, entries }) {
  const [first] = entries;
  const where = 'entry 1, fact 1';
  const kind = kindOf(first.facts[0]);
  if (kind !== 'gameStarted') throw difference(where, 'kind', kind, 'gameStarted');
  const { commitment, ruleset, mode } = first.facts[0].gameStarted;
  const bytes = Buffer.from(seed, 'hex');
  const promised = sha256('scoundrel/v1', bytes).toString('hex');
  if (commitment !== promised) throw difference('', 'commitment', quote(commitment), quote(promised));
  if (!isValid(ruleset)) throw difference(where, 'gameStarted.ruleset', 'an invalid one', 'a valid one');
  if (mode === MODE.zero) throw difference(where, 'gameStarted.mode', mode, 'GAME_MODE_RANDOM, GAME_MODE_SEEDED or GAME_MODE_DAILY');
  const stream = new Stream(bytes);
  const shuffled = shuffle(rolesBy(ruleset).keys(), stream);
  if (deck.length !== shuffled.length) throw difference('', 'deck', `${deck.length} cards`, shuffled.length);
  for (const [i, card] of shuffled.entries()) {
    if (deck[i] !== card) throw difference('deck', `card ${i + 1}`, quote(deck[i]), quote(card));
  }
  return Object.assign(newGame(ruleset, shuffled, stream), { commitment, mode, startedAt: first.recordedAt });
}

// verifyEntry plays the entry. One that other rules decided cannot be played: its facts are taken as they are, if
// they fit.
function verifyEntry(game, entry) {
  game.entry++;
  game.facts = [];
  const where = `entry ${game.entry}`;
  const wish = entry.move;
  if (entry.version !== String(game.entry)) throw difference(where, 'version', entry.version, game.entry);
  if (game.over) throw difference(where, '', showMove(wish), 'nothing: the game is over');
  if (entry.rulesRevision === 0) throw difference(where, 'rulesRevision', 0, '1 or more');
  if (wish && game.entry === 1) throw difference(where, 'move', showMove(wish), 'nothing: the game starts');
  if (wish && (wish.kind === MOVE.kind.zero || (wish.card !== '' && !isCard(wish.card)))) {
    throw difference(where, 'move', showMove(wish), 'a move');
  }
  if (entry.rulesRevision !== RULES_REVISION) {
    fold(game, entry.facts, where);
    return;
  }
  unlessMisfit(() => command(game, wish), () => difference(where, 'move', showMove(wish), 'a legal one'));
  for (let i = 0; i < Math.max(game.facts.length, entry.facts.length); i++) {
    compareFact(`${where}, fact ${i + 1}`, entry.facts[i], game.facts[i]);
  }
}

// unlessMisfit throws the difference that a misfit of what is tried makes.
function unlessMisfit(attempt, toDifference) {
  try {
    attempt();
  } catch (error) {
    throw error instanceof Misfit ? toDifference() : error;
  }
}

function showMove(wish) {
  const card = wish?.card ? ` ${plain(wish.card)}` : '';
  return wish ? wish.kind.slice('MOVE_KIND_'.length) + card : 'no move';
}

// command lets happen what the rules make of an entry's move. The first entry is the start; a later one without a
// move is a resignation.
function command(game, wish) {
  if (game.entry === 1) {
    start(game, { health: MAX_HEALTH - 2 * game.ruleset.depth, ...opening(game) });
  } else if (!wish) {
    resign(game);
  } else {
    fits(isLegal(game, wish));
    move(game, wish);
  }
}

// fold lets the facts of an entry happen that other rules decided. By whatever rules, the first and the last of a game
// repeat what is known from its start.
function fold(game, facts, where) {
  game.folded++;
  for (let i = 0; i < Math.max(facts.length, 1); i++) {
    const at = `${where}, fact ${i + 1}`;
    const kind = kindOf(facts[i]);
    unlessMisfit(() => {
      fits(Object.hasOwn(FACT, kind));
      const fact = facts[i][kind];
      const known = { gameStarted: opening, gameOver: repeated }[kind]?.(game);
      compare(at, kind, FACT[kind], fact, { ...fact, ...known });
      happen(game, kind, fact);
    }, () => difference(at, '', kind, 'a fact that fits'));
  }
}

// ---- The command line --------------------------------------------------------------------------------------

// report verifies a file, prints its line and returns its exit status.
function report(file) {
  let line;
  let status;
  try {
    [status, line] = verify(readDocument(file));
  } catch (error) {
    // Neither of the two can only mean a document beyond this program's means, such as one nested thousands deep.
    status = error instanceof Difference ? DIFFERENT : UNREADABLE;
    line = status === DIFFERENT ? error.message : `unreadable: ${error.message}`;
  }
  // Names of files and messages of the system are not to spread over lines, nor to reach the terminal as controls.
  console.log(`${file}: ${line}`.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`));
  return status;
}

const files = process.argv.slice(2);
if (files.length === 0) console.error('usage: node verify.mjs FILE...');
const statuses = files.length === 0 ? [UNREADABLE] : files.map(report);
process.exitCode = STATUSES.findLast((status) => statuses.includes(status));
