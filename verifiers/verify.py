#!/usr/bin/env python3
"""Verifies finished games of Scoundrel without trusting the server that ran them.

A game's document is its whole history as JSON, with the seed that was revealed
when it ended. From the seed, the ruleset and the moves this program works out
everything else by itself (the commitment, the deck, every fact, the score) and
compares. verifiers/README.md describes the document's format.

    python3 verify.py FILE...

prints one line for each file, or for standard input if FILE is -:

    FILE: verified: <gameId>, <rulesetId>, N moves, score S
    FILE: not judged: <the same>; F of E entries are not of rules revision 1
    FILE: <where>: <what>: have X, want Y
    FILE: unreadable: <where>: <why>

"have" is what the document says, "want" what the rules give. The exit status is
that of the worst file: 2 if it cannot be read, 1 if it differs, 3 if some of its
entries were not judged, and 0 if it is verified. Who played and when, the game's
id and its mode follow from nothing: they are not verified, save that the game's
end repeats the mode and the time of the start. Entries of a rules revision that
this program does not know are only folded: whether they are true, nobody can say.

Python 3.9 or later; no other package is needed.
"""

import argparse
import datetime
import hashlib
import json
import re
import sys

# The revision of the rules that this program knows. Entries of any other one are
# only folded: each fact must fit the cards, but nobody judges what led to it.
RULES_REVISION = 1

MAX_HEALTH = 20
MAX_DEPTH = 9
ROOM_SIZE = 4
TAKES_PER_FULL_ROOM = 3


class Unreadable(Exception):
    """The file is no document of a finished game."""


class Differs(Exception):
    """The document says something else than the rules give."""


class Misfit(Exception):
    """A fact cannot have happened where the game stood."""


# A game has room for no more, whatever its rules.
MOST_MOVES, MOST_KILLS, MOST_UPGRADES, MOST_STORED = 255, 26, 4, 9
MOST_DAMAGE = 14
MOST_MONSTERS = 208  # the values of all monsters, added up
MOST_BYTES = 65535  # of the seed's stream


def differs(where, have, want):
    """Returns the error for a value; have and want are texts to print."""
    return Differs(f"{where}: have {have}, want {want}")


def plain(text):
    """Writes a text of the document on one line, short and without a second meaning."""
    return re.sub(r'[^ -~]|["\\]', lambda char: f"\\u{{{ord(char[0]):x}}}", text[:100])


def quote(text):
    return f'"{plain(text)}"'


# --- The document -------------------------------------------------------------
#
# A shape says what a value of the document looks like: a scalar, a list of one
# shape, or an object with the shape of each field, in the order in which they
# are compared. The document leaves zero values out, so an absent field has the
# empty value of its shape; where absence means something of its own, the shape
# stands in a tuple and the value is None.


class Scalar:
    """The shape of a value that holds no others."""

    def __init__(self, name, zero, fits, show):
        self.name = name  # for people
        self.zero = zero  # the value of an absent field
        self.fits = fits  # says whether a value has the shape
        self.show = show  # writes a value for people


class OneOf(dict):
    """The shape of an object that holds one of the fields; absent ones stay absent."""


def whole_number(low, high):
    # Not isinstance: True is an int to Python.
    return Scalar(f"a number from {low} to {high}", 0, lambda value: type(value) is int and low <= value <= high, str)


def enum(prefix, *names):
    names = [f"{prefix}_{name}" for name in ("UNSPECIFIED", *names)]
    return Scalar(f"a name of {prefix}", names[0], lambda value: type(value) is str and value in names, str)


def is_text(value):
    """Says whether the value is a string of characters: an escape sequence can also stand for half of one."""
    return type(value) is str and not re.search("[\ud800-\udfff]", value)


def is_version(value):
    """Says whether the value is a number of 64 bits; it stands in a string, as JSON knows no such numbers."""
    return type(value) is str and bool(re.fullmatch("[1-9][0-9]{0,19}", value)) and int(value) < 2**64


def is_time(value):
    """Says whether the value is a time in RFC 3339, in UTC, with no digit too many."""
    if type(value) is not str:
        return False
    match = re.fullmatch(r"([0-9-]{10}T[0-9:]{8})(\.([0-9]{3}){0,2}(?!000)[0-9]{3})?Z", value)
    try:
        return bool(match) and datetime.datetime.fromisoformat(match[1]).isoformat() == match[1]
    except ValueError:
        return False


TEXT = Scalar("a string", "", is_text, quote)
FLAG = Scalar("true or false", False, lambda value: type(value) is bool, lambda value: str(value).lower())
INT = whole_number(-2**31, 2**31 - 1)
COUNT = whole_number(0, 2**32 - 1)
VERSION = Scalar("a number of 64 bits in a string", "0", is_version, str)
TIME = Scalar("a time", None, is_time, quote)  # never absent

GAME_MODE = enum("GAME_MODE", "RANDOM", "SEEDED", "DAILY")
RULESET = {
    "weaponWear": enum("WEAPON_WEAR", "AT_MOST_LAST_KILL", "BELOW_LAST_KILL"),
    "ending": enum("ENDING", "PLAY_ALL_CARDS", "STOP_WHEN_ROOM_CANNOT_FILL"),
    "winBonus": enum("WIN_BONUS", "LAST_POTION_AT_FULL_HEALTH", "LAST_POTION_OVERFLOW"),
    "lossScore": enum("LOSS_SCORE", "HEALTH_MINUS_DUNGEON", "HEALTH_MINUS_DUNGEON_AND_ROOM", "DUNGEON_AND_ROOM_ONLY"),
    "depth": COUNT,
    "variants": [enum("VARIANT", "MERCHANTS", "EVIL_MERCHANT", "BLACKSMITHS", "PARTY", "HOME_RULES")],
    "companionHealth": COUNT,
}
POSITION = {"index": COUNT, "streamPosition": COUNT}
CARD = {"card": TEXT}

FACTS = OneOf({
    "gameStarted": {"mode": GAME_MODE, "ruleset": RULESET, "health": INT, "dungeonSize": COUNT, "commitment": TEXT},
    "roomDealt": {"cards": [TEXT], "toTake": COUNT, "canAvoid": FLAG},
    "roomAvoided": {"cards": [TEXT]},
    "weaponEquipped": CARD,
    "potionDrunk": {"card": TEXT, "healed": INT, "healthBefore": INT},
    "potionWasted": CARD,
    "monsterFought": {
        "card": TEXT, "fight": enum("FIGHT_KIND", "BARE_HANDED", "WITH_WEAPON", "WITH_COMPANION"), "damage": INT,
        "companionDamage": INT,
    },
    "roomCleared": {},
    "gameOver": {
        "outcome": enum("OUTCOME", "WON", "LOST", "ABANDONED"), "ruleset": RULESET, "health": INT, "lastCard": TEXT,
        "lastCardUse": enum("LAST_CARD_USE", "POTION_DRUNK", "POTION_WASTED"), "healthBeforeLastCard": INT,
        "dungeonMonsterValue": COUNT, "roomMonsterValue": COUNT, "moves": COUNT, "startedAt": TIME, "mode": GAME_MODE,
    },
    "cardDismissed": CARD,
    "weaponSold": {"card": TEXT, "healed": INT},
    "weaponStolen": CARD,
    "weaponRepaired": {"card": TEXT, "removed": COUNT},
    "weaponUpgraded": CARD,
    "bearerRecruited": CARD,
    "potionStored": CARD,
    "storedPotionDrunk": {"card": TEXT, "healed": INT, "healthBefore": INT},
    "companionRecruited": {"card": TEXT, "health": INT},
    "companionEquipped": CARD,
    "companionDied": CARD,
    "cardRecycled": {"card": TEXT, "position": POSITION},
    "cardReturned": {"card": TEXT, "position": POSITION},
})

MOVE_KIND = enum(
    "MOVE_KIND", "AVOID", "EQUIP", "DRINK", "FIGHT_BARE_HANDED", "FIGHT_WITH_WEAPON", "DISMISS", "SELL", "REPAIR",
    "UPGRADE", "RECRUIT", "STORE", "DRINK_STORED", "EQUIP_COMPANION", "FIGHT_WITH_COMPANION", "RECYCLE",
)
MOVE = {"kind": MOVE_KIND, "card": TEXT}
ENTRY = {"version": VERSION, "recordedAt": TIME, "move": (MOVE,), "facts": [FACTS], "rulesRevision": COUNT}
DOCUMENT = {
    "gameId": TEXT, "playerId": TEXT, "seed": TEXT, "deck": [TEXT], "score": (INT,), "entries": [ENTRY],
    "nextPageToken": TEXT,
}


def load(path):
    """Reads the document in a file, with every field of the types that it must have."""
    try:
        with open(0 if path == "-" else path, encoding="utf-8") as file:
            value = json.load(
                file, object_pairs_hook=object_without_repeats, parse_int=canonical_int, parse_float=refuse_number,
                parse_constant=refuse_number,
            )
        return read(DOCUMENT, value, "document")
    except (OSError, ValueError) as error:  # ValueError covers bad JSON and bad UTF-8
        raise Unreadable(f"the file: {error}") from error


def object_without_repeats(pairs):
    """Builds an object; a repeated name would mean different things to different readers."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has two fields of the same name")
    return fields


def canonical_int(digits):
    """Reads a number; -0 is another spelling of one that has a spelling."""
    return refuse_number(digits) if digits == "-0" else int(digits)


def refuse_number(text):
    """Refuses fractions and exponents, and NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(f"{text} is not a whole number")


def read(shape, value, where):
    """Returns the value with absent fields filled in."""
    if isinstance(shape, dict):
        return read_object(shape, value, where)
    if isinstance(shape, tuple):
        return read(shape[0], value, where)
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise Unreadable(f"{where}: a list expected")
        return [read(shape[0], item, f"{where}[{n}]") for n, item in enumerate(value)]
    if not shape.fits(value):
        raise Unreadable(f"{where}: {shape.name} expected")
    return value


def read_object(shape, value, where):
    if not isinstance(value, dict):
        raise Unreadable(f"{where}: an object expected")
    if isinstance(shape, OneOf) and len(value) > 1:
        raise Unreadable(f"{where}: it has more than one kind")
    result = {} if isinstance(shape, OneOf) else empty(shape)
    for name, field in value.items():
        if name not in shape:
            raise Unreadable(f"{where}: there is no field {quote(name)}")
        at = f"{where}.{name}"
        result[name] = read(shape[name], field, at)
        if isinstance(shape[name], (list, Scalar)) and result[name] == empty(shape[name]):
            raise Unreadable(f"{at}: a field that is 0, empty or false is left out")
    for name in shape:
        if shape[name] is TIME and name not in value:
            raise Unreadable(f"{where}.{name}: it is missing")
    return result


def empty(shape):
    """Returns the value of an absent field."""
    if isinstance(shape, tuple):
        return None
    if isinstance(shape, dict):
        return {name: empty(field) for name, field in shape.items()}
    return [] if isinstance(shape, list) else shape.zero


def show(shape, value):
    """Writes a field that is no object for people."""
    if isinstance(shape, list):
        return "[" + " ".join(show(shape[0], item) for item in value) + "]"
    return shape.show(value)


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
PRICE_BONUS = {"JH": 0, "QH": 1, "KH": 3, "AH": 5}

BELOW_LAST_KILL = "WEAPON_WEAR_BELOW_LAST_KILL"
STOP_WHEN_ROOM_CANNOT_FILL = "ENDING_STOP_WHEN_ROOM_CANNOT_FILL"
AT_FULL_HEALTH = "WIN_BONUS_LAST_POTION_AT_FULL_HEALTH"
HEALTH_MINUS_DUNGEON = "LOSS_SCORE_HEALTH_MINUS_DUNGEON"
HEALTH_MINUS_DUNGEON_AND_ROOM = "LOSS_SCORE_HEALTH_MINUS_DUNGEON_AND_ROOM"
DUNGEON_AND_ROOM_ONLY = "LOSS_SCORE_DUNGEON_AND_ROOM_ONLY"

# How a ruleset's id is spelled: the name of the preset, or else the four options' words.
OPTION_WORDS = {
    "weaponWear": {"WEAPON_WEAR_AT_MOST_LAST_KILL": "atmost", BELOW_LAST_KILL: "below"},
    "ending": {"ENDING_PLAY_ALL_CARDS": "playall", STOP_WHEN_ROOM_CANNOT_FILL: "stopshort"},
    "winBonus": {AT_FULL_HEALTH: "fullhealth", "WIN_BONUS_LAST_POTION_OVERFLOW": "overflow"},
    "lossScore": {
        HEALTH_MINUS_DUNGEON: "dungeon", HEALTH_MINUS_DUNGEON_AND_ROOM: "dungeonroom",
        DUNGEON_AND_ROOM_ONLY: "leftonly",
    },
}
PRESETS = {
    "atmost.playall.fullhealth.dungeon": "classic",
    "below.playall.fullhealth.dungeon": "strict",
    "below.stopshort.fullhealth.leftonly": "tabletop",
    "atmost.playall.overflow.dungeonroom": "digital",
}

WON, LOST, ABANDONED = "OUTCOME_WON", "OUTCOME_LOST", "OUTCOME_ABANDONED"
DRUNK, WASTED = "LAST_CARD_USE_POTION_DRUNK", "LAST_CARD_USE_POTION_WASTED"
BARE_HANDED, WITH_WEAPON = "FIGHT_KIND_BARE_HANDED", "FIGHT_KIND_WITH_WEAPON"
WITH_COMPANION = "FIGHT_KIND_WITH_COMPANION"


def valid(ruleset):
    """Says whether games can be played by a ruleset."""
    variants = ruleset["variants"]
    home = HOME_RULES in variants
    return (
        all(ruleset[option] in words for option, words in OPTION_WORDS.items())
        and ruleset["depth"] <= MAX_DEPTH
        and variants == [v for v in VARIANT_ROLES if v in variants]  # each once, in order
        and not (home and len(variants) > 1)
        and not (EVIL_MERCHANT in variants and MERCHANTS not in variants)
        and not (BLACKSMITHS in variants and PARTY in variants)
        and ruleset["companionHealth"] <= (MAX_HEALTH if home else 0)
    )


def ruleset_id(ruleset):
    words = ".".join(words[ruleset[option]] for option, words in OPTION_WORDS.items())
    parts = [PRESETS.get(words, words)] + sorted(v[len("VARIANT_"):].lower() for v in ruleset["variants"])
    for name, number in ("companion", ruleset["companionHealth"]), ("depth", ruleset["depth"]):
        if number:
            parts.append(f"{name}{number}")
    return "+".join(parts)


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
    value = VALUES.get(over["lastCard"], 0)
    if over["ruleset"]["winBonus"] == AT_FULL_HEALTH:
        pays = over["health"] == MAX_HEALTH and over["lastCardUse"] in (DRUNK, WASTED)
    else:
        pays = over["lastCardUse"] == DRUNK and over["healthBeforeLastCard"] + value > MAX_HEALTH
    return value if pays else 0


# --- The game: what facts do --------------------------------------------------


def need(condition):
    if not condition:
        raise Misfit


class Weapon:
    """A weapon in hand, with the monsters on it and the blacksmiths under it, oldest first."""

    def __init__(self, card):
        self.card = card
        self.kills = []
        self.upgrades = []

    def power(self):
        return VALUES[self.card] + sum(VALUES[card] - 10 for card in self.upgrades)


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
        self.folded = 0  # how many entries were not judged

    def repeated(self):
        """What the end of the game repeats of its start."""
        return {"ruleset": self.ruleset, "startedAt": self.started_at, "mode": self.mode}

    def opening(self):
        """What the start of the game repeats of what was there before."""
        return {
            "mode": self.mode, "ruleset": self.ruleset, "dungeonSize": len(self.roles),
            "commitment": commitment_to(self.stream.seed),
        }

    def emit(self, kind, **fields):
        """Notes a fact that the rules give, and lets it happen."""
        fact = {**empty(FACTS[kind]), **fields}
        self.facts.append({kind: fact})
        self.apply(kind, fact)

    def apply(self, kind, fact):
        """Lets a fact happen: roomDealt by room_dealt, and so on. One that does not fit raises Misfit."""
        if kind == "gameStarted":
            need(not self.started)
        else:
            need(self.started and not self.over)
        getattr(self, re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), kind))(fact)

    def playing(self):
        """Says whether the player is to move: an entry's facts never stop halfway."""
        return not self.over and self.to_take > 0 and self.health > 0

    def count_move(self):
        need(self.moves < MOST_MOVES)
        self.moves += 1

    def take(self, card):
        """Takes a card of the room away. It counts as the move."""
        need(self.playing())
        need(card in self.room)
        self.room.remove(card)
        self.count_move()
        self.to_take -= 1
        self.can_avoid = False

    def leave_room(self):
        self.to_take = 0
        self.can_avoid = self.potion_used = False
        self.deal_due = True

    def heal(self, health):
        need(0 <= health <= MAX_HEALTH - self.health)
        self.health += health

    def insert(self, card, position):
        """Puts a card back into the dungeon; the seed's stream goes on behind what was drawn for it."""
        index, used = position["index"], position["streamPosition"]
        need(0 <= index <= len(self.dungeon))
        need(self.stream.position <= used <= MOST_BYTES)
        self.dungeon.insert(index, card)
        self.stream.position = used

    def game_started(self, fact):
        need(1 <= fact["health"] <= MAX_HEALTH)
        self.started = True
        self.health = fact["health"]
        self.deal_due = True

    def room_dealt(self, fact):
        cards = fact["cards"]
        need(self.deal_due)
        need(len(self.room) + len(cards) <= ROOM_SIZE)
        need(self.dungeon[:len(cards)] == cards)
        need(1 <= fact["toTake"] <= len(self.room) + len(cards))
        self.room += cards
        del self.dungeon[:len(cards)]
        self.to_take = fact["toTake"]
        self.can_avoid = fact["canAvoid"]
        self.potion_used = self.deal_due = False

    def room_avoided(self, fact):
        need(not self.deal_due and self.room)
        for card in fact["cards"]:
            need(card in self.room)
            self.room.remove(card)
            self.dungeon.append(card)
        self.count_move()
        self.leave_room()

    def room_cleared(self, _fact):
        need(not self.deal_due and self.to_take == 0 and self.health > 0)
        self.leave_room()

    def game_over(self, fact):
        need(fact["outcome"] in (WON, LOST, ABANDONED))
        need(fact["health"] == self.health)
        need(fact["moves"] == self.moves)
        need(fact["lastCard"] in ("", *VALUES))
        need(0 <= fact["healthBeforeLastCard"] <= MAX_HEALTH)
        need(fact["dungeonMonsterValue"] + fact["roomMonsterValue"] <= MOST_MONSTERS)
        self.over = fact

    def weapon_equipped(self, fact):
        self.take(fact["card"])
        self.weapon = Weapon(fact["card"])

    def potion_drunk(self, fact):
        need(fact["healthBefore"] == self.health)
        self.take(fact["card"])
        self.heal(fact["healed"])
        self.potion_used = True

    def potion_wasted(self, fact):
        self.take(fact["card"])

    def card_dismissed(self, fact):
        self.take(fact["card"])

    def monster_fought(self, fact):
        need(0 <= fact["damage"] <= MOST_DAMAGE and 0 <= fact["companionDamage"] <= MOST_DAMAGE)
        self.take(fact["card"])
        if fact["fight"] != BARE_HANDED:
            held = {WITH_WEAPON: self.weapon, WITH_COMPANION: self.fighter and self.fighter.weapon}.get(fact["fight"])
            need(held and len(held.kills) < MOST_KILLS)
            held.kills.append(fact["card"])
        self.health -= fact["damage"]
        if self.fighter:
            self.fighter.health -= fact["companionDamage"]

    def weapon_sold(self, fact):
        need(self.weapon)
        self.take(fact["card"])
        self.heal(fact["healed"])
        self.weapon = None

    def weapon_stolen(self, fact):
        need(self.weapon and self.weapon.card == fact["card"])
        self.weapon = None

    def weapon_repaired(self, fact):
        kills = self.weapon.kills if self.weapon else []
        need(1 <= fact["removed"] <= len(kills))
        self.take(fact["card"])
        del kills[-fact["removed"]:]

    def weapon_upgraded(self, fact):
        need(self.weapon and len(self.weapon.upgrades) < MOST_UPGRADES)
        self.take(fact["card"])
        self.weapon.upgrades.append(fact["card"])

    def bearer_recruited(self, fact):
        need(not self.bearer)
        self.take(fact["card"])
        self.bearer = fact["card"]

    def potion_stored(self, fact):
        need(self.bearer and len(self.stored) < MOST_STORED)
        self.take(fact["card"])
        self.stored.append(fact["card"])

    def stored_potion_drunk(self, fact):
        need(self.playing())
        need(fact["card"] in self.stored)
        need(fact["healthBefore"] == self.health)
        self.stored.remove(fact["card"])
        self.heal(fact["healed"])
        self.potion_used = True
        self.count_move()

    def companion_recruited(self, fact):
        need(not self.fighter)
        need(0 <= fact["health"] <= MAX_HEALTH)
        self.take(fact["card"])
        self.fighter = Fighter(fact["card"], fact["health"])

    def companion_equipped(self, fact):
        need(self.fighter)
        self.take(fact["card"])
        self.fighter.weapon = Weapon(fact["card"])

    def companion_died(self, fact):
        need(self.fighter and self.fighter.card == fact["card"])
        self.fighter = None

    def card_recycled(self, fact):
        self.take(fact["card"])
        self.recycled.add(fact["card"])
        self.insert(fact["card"], fact["position"])

    def card_returned(self, fact):
        need(self.deal_due)
        need(fact["card"] in self.room)
        self.room.remove(fact["card"])
        self.insert(fact["card"], fact["position"])


# --- The rules: which moves are legal -----------------------------------------


def legal(game, kind, card):
    """Says whether a move can be made."""
    if not game.playing():
        return False
    if kind == "MOVE_KIND_AVOID":
        return not card and game.can_avoid
    if kind == "MOVE_KIND_DRINK_STORED":
        return has_party(game) and card in game.stored and not game.potion_used
    roles, _ = TAKES[kind]
    return card in game.room and game.roles[card] in roles and can_take(game, kind, card)


def can_take(game, kind, card):
    """Says whether a move can be made on a card of the room that has the right role."""
    armed = game.weapon and not thief_waits(game)
    companions = has_party(game) and game.fighter and game.fighter.weapon
    return {
        "MOVE_KIND_FIGHT_WITH_WEAPON": armed and not worn(game, game.weapon, card),
        "MOVE_KIND_SELL": armed,
        "MOVE_KIND_REPAIR": armed and game.weapon.kills,
        "MOVE_KIND_UPGRADE": home_rules(game) and armed and not game.weapon.kills,
        "MOVE_KIND_STORE": has_party(game) and game.bearer and (home_rules(game) or not game.stored),
        "MOVE_KIND_EQUIP_COMPANION": has_party(game) and game.fighter,
        "MOVE_KIND_FIGHT_WITH_COMPANION": companions and not worn(game, companions, card),
        # A full room leaves a card over, only the last one none.
        "MOVE_KIND_RECYCLE": home_rules(game) and game.to_take < len(game.room) and card not in game.recycled,
    }.get(kind, True)


def worn(game, weapon, monster):
    """Says whether the last kill of a weapon keeps it from hitting the monster."""
    if not weapon.kills:
        return False
    limit = VALUES[weapon.kills[-1]]
    if game.ruleset["weaponWear"] == BELOW_LAST_KILL:
        limit -= 1
    if "AD" in weapon.upgrades:
        limit += 1
    return VALUES[monster] > limit


def home_rules(game):
    return HOME_RULES in game.ruleset["variants"]


def has_party(game):
    return PARTY in game.ruleset["variants"] or home_rules(game)


def thief_in_room(game):
    return any(game.roles[card] == "thief" for card in game.room)


def thief_waits(game):
    """Says whether the thief is still to strike: he does once the room can no longer be avoided."""
    return game.can_avoid and thief_in_room(game)


# --- The rules: which facts follow --------------------------------------------


def start(game):
    game.emit("gameStarted", health=MAX_HEALTH - 2 * game.ruleset["depth"], **game.opening())
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
        "gameOver", outcome=outcome, health=game.health, moves=game.moves,
        dungeonMonsterValue=monster_value(game.dungeon), roomMonsterValue=monster_value(game.room),
        **game.repeated(), **last,
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
    """Returns the exit status and what to say of a game. The first thing that differs raises Differs."""
    entries = document["entries"]
    if not document["seed"] and not any("gameOver" in fact for entry in entries for fact in entry["facts"]):
        raise Differs("the game is not over: its seed is revealed when it is")
    start = next((fact for entry in entries[:1] for fact in entry["facts"][:1]), {})
    if not document["seed"] and start.get("gameStarted", {}).get("mode") == "GAME_MODE_DAILY":
        raise Differs("the daily challenge of this game is not final: its seed is revealed one hour after its day (UTC)")
    if document["nextPageToken"]:
        raise differs("nextPageToken", quote(document["nextPageToken"]), "nothing: all pages in one document")
    if not re.fullmatch("[0-9a-f]{64}", document["seed"]):
        raise differs("seed", quote(document["seed"]), "64 lower-case hexadecimal digits")
    if not entries:
        raise differs("entry 1", "nothing", "the start of the game")
    game = set_up(document)
    for version, entry in enumerate(entries, 1):
        check_entry(game, version, entry)
    if not game.over:
        raise differs(f"entry {len(entries) + 1}", "nothing", "the game to go on to its end")
    score = score_of(game.over)
    if document["score"] != score:
        raise differs("score", *("nothing" if number is None else number for number in (document["score"], score)))
    return summary(document, game)


def set_up(document):
    """Returns the game before its start, after checking what the seed and the ruleset alone pin."""
    first = document["entries"][0]
    where = "entry 1, fact 1"
    if kind_of(first["facts"], 0) != "gameStarted":
        raise differs(f"{where}: kind", kind_of(first["facts"], 0), "gameStarted")
    started = first["facts"][0]["gameStarted"]
    seed = bytes.fromhex(document["seed"])
    if started["commitment"] != commitment_to(seed):
        raise differs("commitment", quote(started["commitment"]), quote(commitment_to(seed)))
    if not valid(started["ruleset"]):
        raise differs(f"{where}: gameStarted.ruleset", "an invalid one", "a valid one")
    if started["mode"] == GAME_MODE.zero:
        raise differs(f"{where}: gameStarted.mode", started["mode"], "GAME_MODE_RANDOM, GAME_MODE_SEEDED or GAME_MODE_DAILY")
    stream = Stream(seed)
    deck = shuffle(roles_of(started["ruleset"]), stream)
    check_deck(document["deck"], deck)
    return Game(started["ruleset"], started["mode"], first["recordedAt"], deck, stream)


def check_deck(have, want):
    if len(have) != len(want):
        raise differs("deck", f"{len(have)} cards", len(want))
    for n, (have_card, want_card) in enumerate(zip(have, want), 1):
        if have_card != want_card:
            raise differs(f"deck: card {n}", quote(have_card), quote(want_card))


def check_entry(game, version, entry):
    where = f"entry {version}"
    move = entry["move"]
    if entry["version"] != str(version):
        raise differs(f"{where}: version", entry["version"], version)
    if game.over:
        raise differs(where, show_move(move), "nothing: the game is over")
    if entry["rulesRevision"] == 0:
        raise differs(f"{where}: rulesRevision", 0, "1 or more")
    if version == 1 and move:
        raise differs(f"{where}: move", show_move(move), "nothing: the game starts")
    if move and (move["kind"] == MOVE_KIND.zero or move["card"] not in ("", *VALUES)):
        raise differs(f"{where}: move", show_move(move), "a move")
    if entry["rulesRevision"] != RULES_REVISION:
        fold(game, where, entry["facts"])
        return
    game.facts = []
    try:
        decide(game, version, move)
    except Misfit as misfit:
        raise differs(f"{where}: move", show_move(move), "a legal one") from misfit
    check_facts(where, entry["facts"], game.facts)


def show_move(move):
    if not move:
        return "no move"
    return " ".join(filter(None, [move["kind"][len("MOVE_KIND_"):], plain(move["card"])]))


def decide(game, version, move):
    """Works out the facts of an entry: the first one starts the game, one without a move ends it."""
    if version == 1:
        start(game)
    elif not move:
        resign(game)
    else:
        need(legal(game, move["kind"], move["card"]))
        play(game, move["kind"], move["card"])


def kind_of(facts, index):
    """Returns the kind of a fact of an entry, for people where there is none."""
    return next(iter(facts[index]), "no kind") if index < len(facts) else "nothing"


def check_facts(where, have, want):
    for n in range(max(len(have), len(want))):
        have_kind, want_kind = kind_of(have, n), kind_of(want, n)
        if have_kind != want_kind:
            raise differs(f"{where}, fact {n + 1}: kind", have_kind, want_kind)
        compare(f"{where}, fact {n + 1}: {want_kind}", FACTS[want_kind], have[n][want_kind], want[n][want_kind])


def compare(where, shape, have, want):
    """Finds the first field that differs."""
    for name, field in shape.items():
        at = f"{where}.{name}"
        if isinstance(field, dict):
            compare(at, field, have[name], want[name])
        elif have[name] != want[name]:
            raise differs(at, show(field, have[name]), show(field, want[name]))


def fold(game, where, facts):
    """Lets the facts of an entry happen that other rules decided, if they fit."""
    game.folded += 1
    for n in range(max(len(facts), 1)):
        kind = kind_of(facts, n)
        try:
            need(kind in FACTS)
            fact = facts[n][kind]
            # By whatever rules, these two repeat what is known from the start.
            repeated = {"gameStarted": game.opening(), "gameOver": game.repeated()}.get(kind, {})
            compare(f"{where}, fact {n + 1}: {kind}", FACTS[kind], fact, {**fact, **repeated})
            game.apply(kind, fact)
        except Misfit as misfit:
            raise differs(f"{where}, fact {n + 1}", kind, "a fact that fits") from misfit


def summary(document, game):
    score = "no score" if document["score"] is None else f"score {document['score']}"
    text = f"{plain(document['gameId'])}, {ruleset_id(game.ruleset)}, {game.moves} moves, {score}"
    if not game.folded:
        return VERIFIED, f"verified: {text}"
    count = f"{game.folded} of {len(document['entries'])}"
    return NOT_JUDGED, f"not judged: {text}; {count} entries are not of rules revision {RULES_REVISION}"


# --- Command line -------------------------------------------------------------

VERIFIED, DIFFERENT, UNREADABLE, NOT_JUDGED = 0, 1, 2, 3
FROM_BEST_TO_WORST = [VERIFIED, NOT_JUDGED, DIFFERENT, UNREADABLE]


def verify_file(path):
    """Returns the exit status for a file and what to say about it."""
    try:
        return verify(load(path))
    except Differs as error:
        return DIFFERENT, str(error)
    except Unreadable as error:
        return UNREADABLE, f"unreadable: {error}"
    except RecursionError:
        return UNREADABLE, "unreadable: the file: it is nested too deeply"


def main():
    parser = argparse.ArgumentParser(description="Verifies finished games of Scoundrel without trusting the server.")
    parser.add_argument("files", metavar="FILE", nargs="+", help="a game's whole history as JSON, - for standard input")
    worst = VERIFIED
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files and fields need not be printable
    for path in parser.parse_args().files:
        status, text = verify_file(path)
        print(f"{path}: {text}")
        worst = max(worst, status, key=FROM_BEST_TO_WORST.index)
    return worst


if __name__ == "__main__":
    sys.exit(main())
