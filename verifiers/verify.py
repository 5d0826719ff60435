#!/usr/bin/env python3
"""Verifies finished games of Scoundrel without trusting the server that ran them.

A game's document is its whole history as JSON, with the seed that was revealed
when it ended. From the seed, the ruleset and the moves this program works out
everything else by itself (the commitment, the deck, every fact, the score) and
compares. verifiers/README.md describes the document's format.

    python3 verify.py FILE...

prints one line for each file:

    FILE: verified: <gameId>, N moves, score S
    FILE: <where>: <what>: have X, want Y
    FILE: unreadable: <where>: <why>

"have" is what the document says, "want" what the rules give. The exit status is
0 if all files are verified, 1 if at least one differs, 2 if at least one cannot
be read. Who played and when, the game's id and its mode follow from nothing:
they are not verified, save that the game's end repeats the mode and the time of
the start. Entries of a rules revision that this program does not know are only
folded, and the line says so.

Python 3.9 or later; no other package is needed.
"""

import argparse
import hashlib
import itertools
import json
import re
import sys

# The revision of the rules that this program knows. Entries of any other one are
# only folded: each fact must fit the cards, but nobody judges what led to it.
RULES_REVISION = 1

MAX_HEALTH = 20
ROOM_SIZE = 4
TAKES_PER_FULL_ROOM = 3


class Unreadable(Exception):
    """The file is no document of a finished game."""


class Differs(Exception):
    """The document says something else than the rules give."""


class Misfit(Exception):
    """A fact cannot have happened where the game stood."""


def differs(where, have, want):
    """Returns the error for a value; have and want are texts to print."""
    return Differs(f"{where}: have {have}, want {want}")


def show(value):
    """Writes a value of the document on one line, however odd it is."""
    text = json.dumps(value)
    return text if len(text) <= 160 else text[:157] + "..."


# --- The document -------------------------------------------------------------
#
# A shape says what a value of the document looks like: a type, a list of one
# shape, or an object with the shape of each field. The document leaves zero
# values out, so an absent field has the empty value of its shape; where absence
# means something of its own, the shape stands in a tuple and the value is None.


class OneOf(dict):
    """The shape of an object that holds one of the fields; absent ones stay absent."""


RULESET = {
    "weaponWear": str, "ending": str, "winBonus": str, "lossScore": str,
    "depth": int, "variants": [str], "companionHealth": int,
}
POSITION = {"index": int, "streamPosition": int}
CARD = {"card": str}

FACTS = OneOf({
    "gameStarted": {"mode": str, "ruleset": RULESET, "health": int, "dungeonSize": int, "commitment": str},
    "roomDealt": {"cards": [str], "toTake": int, "canAvoid": bool},
    "roomAvoided": {"cards": [str]},
    "weaponEquipped": CARD,
    "potionDrunk": {"card": str, "healed": int, "healthBefore": int},
    "potionWasted": CARD,
    "monsterFought": {"card": str, "fight": str, "damage": int, "companionDamage": int},
    "roomCleared": {},
    "gameOver": {
        "outcome": str, "ruleset": RULESET, "health": int, "lastCard": str, "lastCardUse": str,
        "healthBeforeLastCard": int, "dungeonMonsterValue": int, "roomMonsterValue": int, "moves": int,
        "startedAt": str, "mode": str,
    },
    "cardDismissed": CARD,
    "weaponSold": {"card": str, "healed": int},
    "weaponStolen": CARD,
    "weaponRepaired": {"card": str, "removed": int},
    "weaponUpgraded": CARD,
    "bearerRecruited": CARD,
    "potionStored": CARD,
    "storedPotionDrunk": {"card": str, "healed": int, "healthBefore": int},
    "companionRecruited": {"card": str, "health": int},
    "companionEquipped": CARD,
    "companionDied": CARD,
    "cardRecycled": {"card": str, "position": POSITION},
    "cardReturned": {"card": str, "position": POSITION},
})

MOVE = {"kind": str, "card": str}
# The version stands in a string, as JSON knows no 64-bit numbers.
ENTRY = {"version": str, "recordedAt": str, "move": (MOVE,), "facts": [FACTS], "rulesRevision": int}
DOCUMENT = {
    "gameId": str, "playerId": str, "seed": str, "deck": [str], "score": (int,), "entries": [ENTRY],
    "nextPageToken": str,
}

TYPE_NAMES = {str: "a string", bool: "true or false", int: "a whole number of 64 bits"}


def load(path):
    """Reads the document in a file, with every field of the types that it must have."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file, object_pairs_hook=object_without_repeats, parse_constant=refuse_constant)
        return read(DOCUMENT, value, "document")
    except (OSError, ValueError) as error:  # ValueError covers bad JSON and bad UTF-8
        raise Unreadable(f"the file: {error}") from error


def object_without_repeats(pairs):
    """Builds an object; a repeated name would mean different things to different readers."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has two fields of the same name")
    return fields


def refuse_constant(name):
    """Refuses NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def read(shape, value, where):
    """Returns the value with absent fields filled in; fields that the shape does not know stay as they are."""
    if isinstance(shape, dict):
        return read_object(shape, value, where)
    if isinstance(shape, tuple):
        return read(shape[0], value, where)
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise Unreadable(f"{where}: a list expected")
        return [read(shape[0], item, f"{where}[{n}]") for n, item in enumerate(value)]
    if type(value) is not shape or shape is int and abs(value) >= 2**63:  # not isinstance: True is an int to Python
        raise Unreadable(f"{where}: {TYPE_NAMES[shape]} expected")
    return value


def read_object(shape, value, where):
    if not isinstance(value, dict):
        raise Unreadable(f"{where}: an object expected")
    result = {} if isinstance(shape, OneOf) else empty(shape)
    for name, field in value.items():
        result[name] = read(shape[name], field, f"{where}.{name}") if name in shape else field
    return result


def empty(shape):
    """Returns the value of an absent field."""
    if isinstance(shape, tuple):
        return None
    if isinstance(shape, dict):
        return {name: empty(field) for name, field in shape.items()}
    return [] if isinstance(shape, list) else shape()


def check_no_other_fields(where, value, shape):
    """Refuses what this program does not know, because it could not vouch for it."""
    for name in value:
        if name not in shape:
            raise differs(f"{where}: field {show(name)}", show(value[name]), "nothing")


# --- Chance -------------------------------------------------------------------


def commitment_to(seed):
    return hashlib.sha256(b"scoundrel/v1" + seed).hexdigest()


class Stream:
    """The bytes that a seed gives: the blocks SHA-256(seed || counter), one after another."""

    def __init__(self, seed):
        self.seed = seed
        self.position = 0  # how many bytes are used up

    def next_byte(self):
        block, offset = divmod(self.position, 32)
        self.position += 1
        return hashlib.sha256(self.seed + block.to_bytes(8, "big")).digest()[offset]

    def uniform(self, n):
        """Draws from 0 to n-1. Bytes that would favour small numbers are skipped; for n = 1 none is used."""
        if n == 1:
            return 0
        while True:
            byte = self.next_byte()
            if byte < 256 - 256 % n:
                return byte % n


def shuffle(cards, stream):
    deck = list(cards)
    for i in range(len(deck) - 1, 0, -1):
        j = stream.uniform(i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


# --- Cards and rules ----------------------------------------------------------

RANKS = {str(n): n for n in range(2, 11)}
RANKS.update({"J": 11, "Q": 12, "K": 13, "A": 14})

MONSTERS = [rank + suit for suit in "CS" for rank in RANKS]
WEAPONS = [f"{n}D" for n in range(2, 11)]
POTIONS = [f"{n}H" for n in range(2, 11)]
EXTRAS = ["JD", "QD", "KD", "AD", "JH", "QH", "KH", "AH", "RJ", "BJ"]

VALUES = {card: RANKS.get(card[:-1], 0) for card in MONSTERS + WEAPONS + POTIONS + EXTRAS}  # 0 for the jokers

BASE_ROLES = {card: "monster" for card in MONSTERS}
BASE_ROLES.update({card: "weapon" for card in WEAPONS})
BASE_ROLES.update({card: "potion" for card in POTIONS})

MERCHANTS, EVIL_MERCHANT = "VARIANT_MERCHANTS", "VARIANT_EVIL_MERCHANT"
BLACKSMITHS, PARTY, HOME_RULES = "VARIANT_BLACKSMITHS", "VARIANT_PARTY", "VARIANT_HOME_RULES"

# What each variant adds or changes, in the order in which a ruleset lists them:
# the evil merchant takes over a card of the merchants.
VARIANT_ROLES = {
    MERCHANTS: {"RJ": "merchant", "BJ": "merchant"},
    EVIL_MERCHANT: {"BJ": "thief"},
    BLACKSMITHS: {"JD": "blacksmith", "QD": "blacksmith", "KD": "blacksmith"},
    PARTY: {"JH": "bearer", "JD": "fighter"},
    HOME_RULES: {
        "JD": "blacksmith", "QD": "blacksmith", "KD": "blacksmith", "AD": "blacksmith",
        "JH": "merchant", "QH": "merchant", "KH": "merchant", "AH": "merchant",
        "RJ": "bearer", "BJ": "fighter",
    },
}

REPAIRS = {"JD": 1, "QD": 2, "KD": 3, "AD": len(MONSTERS)}
UPGRADES = {"JD": 1, "QD": 2, "KD": 3, "AD": 4}
PRICE_BONUS = {"JH": 0, "QH": 1, "KH": 3, "AH": 5}

BELOW_LAST_KILL = "WEAPON_WEAR_BELOW_LAST_KILL"
STOP_WHEN_ROOM_CANNOT_FILL = "ENDING_STOP_WHEN_ROOM_CANNOT_FILL"
AT_FULL_HEALTH = "WIN_BONUS_LAST_POTION_AT_FULL_HEALTH"
HEALTH_MINUS_DUNGEON = "LOSS_SCORE_HEALTH_MINUS_DUNGEON"
HEALTH_MINUS_DUNGEON_AND_ROOM = "LOSS_SCORE_HEALTH_MINUS_DUNGEON_AND_ROOM"
DUNGEON_AND_ROOM_ONLY = "LOSS_SCORE_DUNGEON_AND_ROOM_ONLY"

OPTIONS = {
    "weaponWear": ["WEAPON_WEAR_AT_MOST_LAST_KILL", BELOW_LAST_KILL],
    "ending": ["ENDING_PLAY_ALL_CARDS", STOP_WHEN_ROOM_CANNOT_FILL],
    "winBonus": [AT_FULL_HEALTH, "WIN_BONUS_LAST_POTION_OVERFLOW"],
    "lossScore": [HEALTH_MINUS_DUNGEON, HEALTH_MINUS_DUNGEON_AND_ROOM, DUNGEON_AND_ROOM_ONLY],
    "depth": range(10),
    "companionHealth": range(MAX_HEALTH + 1),
}

MODES = ["GAME_MODE_RANDOM", "GAME_MODE_SEEDED"]
WON, LOST, ABANDONED = "OUTCOME_WON", "OUTCOME_LOST", "OUTCOME_ABANDONED"
DRUNK, WASTED = "LAST_CARD_USE_POTION_DRUNK", "LAST_CARD_USE_POTION_WASTED"
BARE_HANDED, WITH_WEAPON = "FIGHT_KIND_BARE_HANDED", "FIGHT_KIND_WITH_WEAPON"
WITH_COMPANION = "FIGHT_KIND_WITH_COMPANION"


def check_ruleset(ruleset):
    """Refuses a ruleset that games cannot be played by. It is the only thing that nothing else pins."""
    where = "entry 1, fact 1: gameStarted.ruleset"
    check_no_other_fields(where, ruleset, RULESET)
    for name, values in OPTIONS.items():
        if ruleset[name] not in values:
            raise differs(f"{where}.{name}", show(ruleset[name]), "one of " + ", ".join(map(str, values)))
    variants = ruleset["variants"]
    if variants != [v for v in VARIANT_ROLES if v in variants]:
        raise differs(f"{where}.variants", show(variants), "known variants, each once, in the order of their numbers")
    problem = conflict(variants)
    if problem:
        raise differs(f"{where}.variants", show(variants), problem)
    if ruleset["companionHealth"] and HOME_RULES not in variants:
        raise differs(f"{where}.companionHealth", ruleset["companionHealth"], f"0 without {HOME_RULES}")


def conflict(variants):
    """Says what keeps the variants from being played together, if anything does."""
    if HOME_RULES in variants and len(variants) > 1:
        return f"{HOME_RULES} alone"
    if EVIL_MERCHANT in variants and MERCHANTS not in variants:
        return f"{MERCHANTS} too"
    if BLACKSMITHS in variants and PARTY in variants:
        return f"only one of {BLACKSMITHS} and {PARTY}"
    return ""


def roles_of(ruleset):
    """Returns the role of each card of the deck, in the order of the unshuffled deck."""
    extras = {}
    for variant in ruleset["variants"]:
        extras.update(VARIANT_ROLES[variant])
    roles = dict(BASE_ROLES)
    roles.update({card: extras[card] for card in EXTRAS if card in extras})
    return roles


def score_of(over):
    """Returns the score that the facts of a game's end give, None for an abandoned game."""
    ruleset, health = over["ruleset"], over["health"]
    if over["outcome"] == WON:
        return health + bonus(over)
    if over["outcome"] == ABANDONED:
        return None
    dungeon, room = over["dungeonMonsterValue"], over["roomMonsterValue"]
    return {
        HEALTH_MINUS_DUNGEON: health - dungeon,
        HEALTH_MINUS_DUNGEON_AND_ROOM: health - dungeon - room,
        DUNGEON_AND_ROOM_ONLY: -dungeon - room,
    }[ruleset["lossScore"]]


def bonus(over):
    """Returns what the last card adds to a win."""
    value = VALUES[over["lastCard"]]
    if over["ruleset"]["winBonus"] == AT_FULL_HEALTH:
        pays = over["health"] == MAX_HEALTH and over["lastCardUse"] in (DRUNK, WASTED)
    else:
        pays = over["lastCardUse"] == DRUNK and over["healthBeforeLastCard"] + value > MAX_HEALTH
    return value if pays else 0


# --- The game: what facts do --------------------------------------------------


def need(condition, problem):
    if not condition:
        raise Misfit(problem)


class Weapon:
    """A weapon in hand, with the monsters on it and the blacksmiths under it, oldest first."""

    def __init__(self, card):
        self.card = card
        self.kills = []
        self.upgrades = []

    def power(self):
        return VALUES[self.card] + sum(UPGRADES[card] for card in self.upgrades)


class Fighter:
    """The fighter in the party."""

    def __init__(self, card, health):
        self.card = card
        self.health = health
        self.weapon = None


class Game:
    """Where a game stands. It changes by facts alone, so that games of other rules can be folded too.

    A fact says all that the rules decided; whether it should have come about is
    for the second half of this file. Discarded cards are forgotten: nothing
    depends on them.
    """

    def __init__(self, ruleset, mode, started_at, deck, stream):
        self.ruleset = ruleset
        self.mode = mode
        self.started_at = started_at
        self.roles = roles_of(ruleset)
        self.dungeon = deck  # the top first
        self.stream = stream
        self.started = False
        self.over = None  # the fact that ended the game
        self.health = 0
        self.moves = 0
        self.room = []
        self.to_take = 0
        self.can_avoid = False
        self.potion_used = False
        self.deal_due = False
        self.weapon = None
        self.fighter = None
        self.bearer = None
        self.stored = []
        self.recycled = set()
        self.facts = []  # what the rules gave for the entry at hand

    def emit(self, kind, **fields):
        """Notes a fact that the rules give, and lets it happen."""
        fact = {**empty(FACTS[kind]), **fields}
        self.facts.append({kind: fact})
        self.apply(kind, fact)

    def apply(self, kind, fact):
        """Lets a fact happen: roomDealt by room_dealt, and so on. One that does not fit raises Misfit."""
        need(kind in FACTS, "there is no such fact")
        if kind == "gameStarted":
            need(not self.started, "the game has started before")
        else:
            need(self.started and not self.over, "the game is not under way")
        getattr(self, re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), kind))(fact)

    def playing(self):
        """Says whether the player is to move: an entry's facts never stop halfway."""
        return not self.over and self.to_take > 0 and self.health > 0

    def take(self, card):
        """Takes a card of the room away. It counts as the move."""
        need(self.playing(), "no card can be taken")
        need(card in self.room, "the card is not in the room")
        self.room.remove(card)
        self.moves += 1
        self.to_take -= 1
        self.can_avoid = False

    def leave_room(self):
        self.to_take = 0
        self.can_avoid = self.potion_used = False
        self.deal_due = True

    def heal(self, health):
        need(0 <= health <= MAX_HEALTH - self.health, "the health healed is out of range")
        self.health += health

    def insert(self, card, position):
        """Puts a card back into the dungeon; the seed's stream goes on behind what was drawn for it."""
        index, used = position["index"], position["streamPosition"]
        need(0 <= index <= len(self.dungeon), "the position is not in the dungeon")
        need(used >= self.stream.position, "the stream's position goes back")
        self.dungeon.insert(index, card)
        self.stream.position = used

    def game_started(self, fact):
        need(1 <= fact["health"] <= MAX_HEALTH, "the health is out of range")
        need(fact["dungeonSize"] == len(self.dungeon), "the dungeon has another size")
        self.started = True
        self.health = fact["health"]
        self.deal_due = True

    def room_dealt(self, fact):
        cards = fact["cards"]
        need(self.deal_due, "no room is due")
        need(len(self.room) + len(cards) <= ROOM_SIZE, "the room has no place for the cards")
        need(self.dungeon[:len(cards)] == cards, "the cards do not lie on top of the dungeon")
        need(1 <= fact["toTake"] <= len(self.room) + len(cards), "the number of cards to take is out of range")
        self.room += cards
        del self.dungeon[:len(cards)]
        self.to_take = fact["toTake"]
        self.can_avoid = fact["canAvoid"]
        self.potion_used = self.deal_due = False

    def room_avoided(self, fact):
        need(self.playing(), "there is no room to avoid")
        for card in fact["cards"]:
            need(card in self.room, "the cards are not those of the room")
            self.room.remove(card)
            self.dungeon.append(card)
        self.moves += 1
        self.leave_room()

    def room_cleared(self, _fact):
        need(not self.deal_due and self.to_take == 0 and self.health > 0, "the room is not faced to the end")
        self.leave_room()

    def game_over(self, fact):
        need(fact["outcome"] in (WON, LOST, ABANDONED), "there is no such outcome")
        need(fact["health"] == self.health, "the final health is another")
        need(fact["moves"] == self.moves, "the number of moves is another")
        self.over = fact

    def weapon_equipped(self, fact):
        self.take(fact["card"])
        self.weapon = Weapon(fact["card"])

    def potion_drunk(self, fact):
        need(fact["healthBefore"] == self.health, "the health before the potion is another")
        self.take(fact["card"])
        self.heal(fact["healed"])
        self.potion_used = True

    def potion_wasted(self, fact):
        self.take(fact["card"])

    def card_dismissed(self, fact):
        self.take(fact["card"])

    def monster_fought(self, fact):
        need(fact["damage"] >= 0 and fact["companionDamage"] >= 0, "the damage is out of range")
        self.take(fact["card"])
        if fact["fight"] == WITH_WEAPON:
            need(self.weapon, "there is no weapon")
            self.weapon.kills.append(fact["card"])
        elif fact["fight"] == WITH_COMPANION:
            need(self.fighter and self.fighter.weapon, "the companion has no weapon")
            self.fighter.weapon.kills.append(fact["card"])
            self.fighter.health -= fact["companionDamage"]
        else:
            need(fact["fight"] == BARE_HANDED, "there is no such means of fighting")
        self.health -= fact["damage"]

    def weapon_sold(self, fact):
        need(self.weapon, "there is no weapon to sell")
        self.take(fact["card"])
        self.heal(fact["healed"])
        self.weapon = None

    def weapon_stolen(self, fact):
        need(self.weapon and self.weapon.card == fact["card"], "the player does not hold the weapon")
        self.weapon = None

    def weapon_repaired(self, fact):
        kills = self.weapon.kills if self.weapon else []
        need(1 <= fact["removed"] <= len(kills), "the weapon does not carry as many monsters")
        self.take(fact["card"])
        del kills[-fact["removed"]:]

    def weapon_upgraded(self, fact):
        need(self.weapon and fact["card"] in UPGRADES, "there is no weapon to lay the card under")
        self.take(fact["card"])
        self.weapon.upgrades.append(fact["card"])

    def bearer_recruited(self, fact):
        need(not self.bearer, "there is a bearer")
        self.take(fact["card"])
        self.bearer = fact["card"]

    def potion_stored(self, fact):
        need(self.bearer, "there is no bearer")
        self.take(fact["card"])
        self.stored.append(fact["card"])

    def stored_potion_drunk(self, fact):
        need(self.playing(), "no potion can be drunk")
        need(fact["card"] in self.stored, "the bearer does not hold the card")
        need(fact["healthBefore"] == self.health, "the health before the potion is another")
        self.stored.remove(fact["card"])
        self.heal(fact["healed"])
        self.potion_used = True
        self.moves += 1

    def companion_recruited(self, fact):
        need(not self.fighter, "there is a companion")
        need(0 <= fact["health"] <= MAX_HEALTH, "the health is out of range")
        self.take(fact["card"])
        self.fighter = Fighter(fact["card"], fact["health"])

    def companion_equipped(self, fact):
        need(self.fighter, "there is no companion")
        self.take(fact["card"])
        self.fighter.weapon = Weapon(fact["card"])

    def companion_died(self, fact):
        need(self.fighter and self.fighter.card == fact["card"], "the companion is another")
        self.fighter = None

    def card_recycled(self, fact):
        self.take(fact["card"])
        self.recycled.add(fact["card"])
        self.insert(fact["card"], fact["position"])

    def card_returned(self, fact):
        need(self.deal_due, "no room was left")
        need(fact["card"] in self.room, "the card is not in the room")
        self.room.remove(fact["card"])
        self.insert(fact["card"], fact["position"])


# --- The rules: which moves are legal -----------------------------------------


def obstacle(game, kind, card):
    """Says why a move is not legal, "" if it is."""
    if not game.playing():
        return "the player is not to move"
    if kind == "MOVE_KIND_AVOID":
        return first([(card, "it takes no card"), (not game.can_avoid, "the room cannot be avoided")])
    if kind == "MOVE_KIND_DRINK_STORED":
        return first([
            (card not in game.stored, "the bearer does not hold the card"),
            (game.potion_used, "a potion has been drunk in this room"),
        ])
    if kind not in TAKES:
        return "there is no such move"
    if card not in game.room:
        return "the card is not in the room"
    roles, _ = TAKES[kind]
    if game.roles[card] not in roles:
        return "the move is not made with this kind of card"
    return first(obstacles_to_take(game, kind, card))


def first(obstacles):
    """Returns the text of the first obstacle that is there; obstacles are pairs of whether it is, and the text."""
    return next((text for there, text in obstacles if there), "")


def obstacles_to_take(game, kind, card):
    """Returns the obstacles to a move on a card of the room that has the right role."""
    kills = game.weapon.kills if game.weapon else []
    no_weapon = [
        (not game.weapon, "there is no weapon"),
        (thief_waits(game), "the thief steals the weapon first"),
    ]
    no_companion = [(not game.fighter, "there is no companion")]
    companions = game.fighter.weapon if game.fighter else None
    not_home_rules = [(not home_rules(game), "only the home rules have it")]
    return {
        "MOVE_KIND_FIGHT_WITH_WEAPON": no_weapon + [(worn(game, game.weapon, card), "the weapon is worn")],
        "MOVE_KIND_SELL": no_weapon,
        "MOVE_KIND_REPAIR": no_weapon + [(not kills, "no monster lies on the weapon")],
        "MOVE_KIND_UPGRADE": not_home_rules + no_weapon + [(kills, "a monster lies on the weapon")],
        "MOVE_KIND_STORE": [
            (not game.bearer, "there is no bearer"),
            (game.stored and not home_rules(game), "the bearer holds a potion"),
        ],
        "MOVE_KIND_EQUIP_COMPANION": no_companion,
        "MOVE_KIND_FIGHT_WITH_COMPANION": no_companion + [
            (not companions, "the companion has no weapon"),
            (worn(game, companions, card), "the companion's weapon is worn"),
        ],
        "MOVE_KIND_RECYCLE": not_home_rules + [
            (game.to_take == len(game.room), "the room is the last one"),  # a full one leaves a card over
            (card in game.recycled, "the card has been put back before"),
        ],
    }.get(kind, [])


def worn(game, weapon, monster):
    """Says whether the last kill of a weapon keeps it from hitting the monster."""
    if not weapon or not weapon.kills:
        return False
    limit = VALUES[weapon.kills[-1]]
    if game.ruleset["weaponWear"] == BELOW_LAST_KILL:
        limit -= 1
    if "AD" in weapon.upgrades:
        limit += 1
    return VALUES[monster] > limit


def home_rules(game):
    return HOME_RULES in game.ruleset["variants"]


def thief_in_room(game):
    return any(game.roles[card] == "thief" for card in game.room)


def thief_waits(game):
    """Says whether the thief is still to strike: he does once the room can no longer be avoided."""
    return game.can_avoid and thief_in_room(game)


# --- The rules: which facts follow --------------------------------------------


def start(game, commitment):
    game.emit(
        "gameStarted", mode=game.mode, ruleset=game.ruleset, health=MAX_HEALTH - 2 * game.ruleset["depth"],
        dungeonSize=len(game.dungeon), commitment=commitment,
    )
    deal(game, may_avoid=True)


def play(game, kind, card):
    """Lets a legal move happen."""
    if kind == "MOVE_KIND_AVOID":
        avoid(game)
    elif kind == "MOVE_KIND_DRINK_STORED":
        game.emit("storedPotionDrunk", card=card, healed=healing(game, VALUES[card]), healthBefore=game.health)
    else:
        if thief_waits(game):
            steal(game)
        last = {"lastCard": card, "healthBeforeLastCard": game.health}
        if kind == "MOVE_KIND_DRINK":
            last["lastCardUse"] = WASTED if game.potion_used else DRUNK
        _, take = TAKES[kind]
        take(game, card)
        close_room(game, last)


def resign(game):
    end(game, ABANDONED, {})


def avoid(game):
    """Blacksmiths and merchants of the home rules go back at random, after the others have gone under."""
    returning = [c for c in game.room if home_rules(game) and game.roles[c] in ("blacksmith", "merchant")]
    game.emit("roomAvoided", cards=[c for c in game.room if c not in returning])
    for card in returning:
        put_back(game, "cardReturned", card)
    deal(game, may_avoid=False)


def put_back(game, kind, card):
    index = game.stream.uniform(len(game.dungeon) + 1)
    game.emit(kind, card=card, position={"index": index, "streamPosition": game.stream.position})


def deal(game, may_avoid):
    """Fills the row. A room of fewer cards than four is the last one: all of it must be taken."""
    cards = game.dungeon[:ROOM_SIZE - len(game.room)]
    size = len(game.room) + len(cards)
    full = size == ROOM_SIZE
    game.emit("roomDealt", cards=cards, toTake=TAKES_PER_FULL_ROOM if full else size, canAvoid=full and may_avoid)
    if not game.can_avoid and thief_in_room(game):
        steal(game)


def steal(game):
    if game.weapon:
        game.emit("weaponStolen", card=game.weapon.card)


def close_room(game, last):
    """What follows from a take: death, nothing, a win or the next room."""
    if game.health <= 0:
        end(game, LOST, last)
        return
    if game.to_take > 0:
        return
    game.emit("roomCleared")
    stops = game.ruleset["ending"] == STOP_WHEN_ROOM_CANNOT_FILL and len(game.dungeon) < TAKES_PER_FULL_ROOM
    if not game.room or stops:
        end(game, WON, last)
    else:
        deal(game, may_avoid=True)


def end(game, outcome, last):
    game.emit(
        "gameOver", outcome=outcome, ruleset=game.ruleset, health=game.health, moves=game.moves,
        dungeonMonsterValue=monster_value(game.dungeon), roomMonsterValue=monster_value(game.room),
        startedAt=game.started_at, mode=game.mode, **last,
    )


def monster_value(cards):
    return sum(VALUES[card] for card in cards if card in MONSTERS)


def healing(game, health):
    """Returns what is left of healing at the cap."""
    return min(health, MAX_HEALTH - game.health)


def just(kind):
    """Returns what a take does that only moves its card."""
    return lambda game, card: game.emit(kind, card=card)


def drink(game, card):
    if game.potion_used:
        game.emit("potionWasted", card=card)
    else:
        game.emit("potionDrunk", card=card, healed=healing(game, VALUES[card]), healthBefore=game.health)


def fight_bare_handed(game, card):
    game.emit("monsterFought", card=card, fight=BARE_HANDED, damage=VALUES[card])


def fight_with_weapon(game, card):
    game.emit("monsterFought", card=card, fight=WITH_WEAPON, damage=max(0, VALUES[card] - game.weapon.power()))


def fight_with_companion(game, card):
    """The player takes the damage, but by the home rules the fighter does; without health any kills him."""
    damage = max(0, VALUES[card] - game.fighter.weapon.power())
    if not home_rules(game):
        game.emit("monsterFought", card=card, fight=WITH_COMPANION, damage=damage)
        return
    game.emit("monsterFought", card=card, fight=WITH_COMPANION, companionDamage=damage)
    if damage > 0 and game.fighter.health <= 0:
        game.emit("companionDied", card=game.fighter.card)


def sell(game, card):
    weapon = game.weapon
    if home_rules(game):
        price = max(1, weapon.power() - len(weapon.kills)) + PRICE_BONUS[card]
    else:
        price = min([weapon.power()] + [VALUES[kill] for kill in weapon.kills])
    game.emit("weaponSold", card=card, healed=healing(game, price))


def repair(game, card):
    game.emit("weaponRepaired", card=card, removed=min(REPAIRS[card], len(game.weapon.kills)))


def recruit(game, card):
    if game.roles[card] == "bearer":
        game.emit("bearerRecruited", card=card)
    else:
        game.emit("companionRecruited", card=card, health=game.ruleset["companionHealth"])


def recycle(game, card):
    put_back(game, "cardRecycled", card)


# The moves that take a card of the room: on which roles, and what follows.
TAKES = {
    "MOVE_KIND_EQUIP": (["weapon"], just("weaponEquipped")),
    "MOVE_KIND_DRINK": (["potion"], drink),
    "MOVE_KIND_FIGHT_BARE_HANDED": (["monster"], fight_bare_handed),
    "MOVE_KIND_FIGHT_WITH_WEAPON": (["monster"], fight_with_weapon),
    "MOVE_KIND_DISMISS": (["merchant", "thief", "blacksmith", "bearer", "fighter"], just("cardDismissed")),
    "MOVE_KIND_SELL": (["merchant"], sell),
    "MOVE_KIND_REPAIR": (["blacksmith"], repair),
    "MOVE_KIND_UPGRADE": (["blacksmith"], just("weaponUpgraded")),
    "MOVE_KIND_RECRUIT": (["bearer", "fighter"], recruit),
    "MOVE_KIND_STORE": (["potion"], just("potionStored")),
    "MOVE_KIND_EQUIP_COMPANION": (["weapon"], just("companionEquipped")),
    "MOVE_KIND_FIGHT_WITH_COMPANION": (["monster"], fight_with_companion),
    "MOVE_KIND_RECYCLE": (["merchant", "blacksmith"], recycle),
}


# --- Verification -------------------------------------------------------------


def verify(document):
    """Returns what to say of a verified game. The first thing that differs raises Differs."""
    check_no_other_fields("document", document, DOCUMENT)
    if document["nextPageToken"]:
        raise differs("nextPageToken", show(document["nextPageToken"]), "none: the whole history in one document")
    if not re.fullmatch("[0-9a-f]{64}", document["seed"]):
        raise differs("seed", show(document["seed"]), "64 lower-case hex digits, as revealed once the game is over")
    game, commitment = set_up(document)
    folded = 0
    for version, entry in enumerate(document["entries"], 1):
        check_entry(game, version, entry, commitment)
        folded += entry["rulesRevision"] != RULES_REVISION
    if not game.over:
        raise differs("end", "a game under way", "a game that is over")
    if document["entries"][-1]["rulesRevision"] == RULES_REVISION:
        check_score(document["score"], score_of(game.over))
    return summary(document, game, folded)


def set_up(document):
    """Returns the game before its start, and the commitment, after checking what the seed alone pins."""
    started = first_fact(document["entries"])
    seed = bytes.fromhex(document["seed"])
    commitment = commitment_to(seed)
    if started["commitment"] != commitment:
        raise differs("commitment", show(started["commitment"]), show(commitment))
    check_ruleset(started["ruleset"])
    if started["mode"] not in MODES:
        raise differs("entry 1, fact 1: gameStarted.mode", show(started["mode"]), " or ".join(MODES))
    stream = Stream(seed)
    deck = shuffle(roles_of(started["ruleset"]), stream)
    check_deck(document["deck"], deck)
    started_at = document["entries"][0]["recordedAt"]
    return Game(started["ruleset"], started["mode"], started_at, deck, stream), commitment


def first_fact(entries):
    """Returns the fact that every document begins with."""
    if not entries or not entries[0]["facts"]:
        raise differs("entry 1, fact 1", "nothing", "gameStarted")
    fact = entries[0]["facts"][0]
    if "gameStarted" not in fact:
        raise differs("entry 1, fact 1: kind", show(", ".join(fact)), show("gameStarted"))
    return fact["gameStarted"]


def check_deck(have, want):
    if len(have) != len(want):
        raise differs("deck", f"{len(have)} cards", len(want))
    for n, (have_card, want_card) in enumerate(zip(have, want), 1):
        if have_card != want_card:
            raise differs(f"deck: card {n}", show(have_card), show(want_card))


def check_entry(game, version, entry, commitment):
    where = f"entry {version}"
    check_no_other_fields(where, entry, ENTRY)
    check_no_other_fields(f"{where}: move", entry["move"] or {}, MOVE)
    if entry["version"] != str(version):
        raise differs(f"{where}: version", show(entry["version"]), show(str(version)))
    if game.over:
        raise differs(where, "an entry", "none: the game is over")
    if entry["rulesRevision"] < 1:
        raise differs(f"{where}: rulesRevision", entry["rulesRevision"], "1 or more")
    if entry["rulesRevision"] == RULES_REVISION:
        decide(game, version, entry["move"], commitment)
        check_facts(where, entry["facts"], game.facts)
    else:
        fold(game, where, entry["facts"])


def decide(game, version, move, commitment):
    """Works out the facts of an entry: the first one starts the game, one without a move ends it."""
    game.facts = []
    if version == 1:
        if move is not None:
            raise differs("entry 1: move", show(move), "none: the game starts")
        start(game, commitment)
    elif move is None:
        resign(game)
    else:
        problem = obstacle(game, move["kind"], move["card"])
        if problem:
            raise differs(f"entry {version}: move", show(move), f"a legal move: {problem}")
        play(game, move["kind"], move["card"])


def check_facts(where, have, want):
    for n, (have_fact, want_fact) in enumerate(itertools.zip_longest(have, want), 1):
        at = f"{where}, fact {n}"
        if have_fact is None:
            raise differs(at, "nothing", show(want_fact))
        if want_fact is None:
            raise differs(at, show(have_fact), "nothing")
        if list(have_fact) != list(want_fact):
            raise differs(f"{at}: kind", show(", ".join(have_fact)), show(", ".join(want_fact)))
        (kind,) = want_fact
        compare(f"{at}: {kind}", have_fact[kind], want_fact[kind])


def compare(where, have, want):
    """Finds the first field that differs."""
    if not isinstance(want, dict):
        if have != want:
            raise differs(where, show(have), show(want))
        return
    for name in want:
        compare(f"{where}.{name}", have[name], want[name])
    check_no_other_fields(where, have, want)


def fold(game, where, facts):
    """Lets the facts of an entry happen that other rules decided."""
    if not facts:
        raise differs(f"{where}, fact 1", "nothing", "a fact")
    for n, fact in enumerate(facts, 1):
        kind = ", ".join(fact)
        try:
            game.apply(kind, fact.get(kind))
        except Misfit as misfit:
            raise differs(f"{where}, fact {n}: kind", show(kind), f"a fact that fits: {misfit}") from misfit


def check_score(have, want):
    if have != want:
        raise differs("score", *("nothing" if score is None else score for score in (have, want)))


def summary(document, game, folded):
    game_id = json.dumps(document["gameId"])[1:-1]  # whatever it holds, it stays on one line
    score = "no score" if document["score"] is None else f"score {document['score']}"
    text = f"verified: {game_id}, {game.moves} moves, {score}"
    if folded:
        text += f"; not judged, only folded: {folded} entries of another rules revision than {RULES_REVISION}"
    if document["entries"][-1]["rulesRevision"] != RULES_REVISION:
        text += ", and the score"
    return text


# --- Command line -------------------------------------------------------------

VERIFIED, DIFFERENT, UNREADABLE = 0, 1, 2


def verify_file(path):
    """Returns the exit status for a file and what to say about it."""
    try:
        return VERIFIED, verify(load(path))
    except Differs as error:
        return DIFFERENT, str(error)
    except Unreadable as error:
        return UNREADABLE, f"unreadable: {error}"
    except RecursionError:
        return UNREADABLE, "unreadable: the file: it is nested too deeply"


def main():
    parser = argparse.ArgumentParser(description="Verifies finished games of Scoundrel without trusting the server.")
    parser.add_argument("files", metavar="FILE", nargs="+", help="a game's whole history as JSON")
    worst = VERIFIED
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files and fields need not be printable
    for path in parser.parse_args().files:
        status, text = verify_file(path)
        print(f"{path}: {text}")
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main())
