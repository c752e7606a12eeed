// The people, products and ad groups of a generated history, and the dice that decide about them.

export interface Person {
  readonly userIds: readonly string[]
  readonly logins: readonly string[]
}

export interface Product {
  readonly spellings: readonly string[]
  /** Looks like a spelling of the product and is another product. */
  readonly lookalike: string
  readonly groupId: string
}

export interface World {
  readonly dice: Dice
  readonly publisherId: number
  readonly persons: readonly Person[]
  readonly products: readonly Product[]
  readonly groupIds: readonly string[]
  readonly adGroups: readonly { advertiserId: number; campaignId: number; adGroupId: number }[]
  readonly takenIds: Set<string>
}

// Real identities that a careless placeholder rule would drop.
const unluckyIds = ['guest1', '00', 'nullo', '-10', '00000000-0000-0000-0000-000000000001']

export type Dice = ReturnType<typeof createDice>

export function createDice(random: () => number) {
  const integer = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1))
  return {
    integer,
    chance: (probability: number): boolean => random() < probability,
    pick<T>(items: readonly T[]): T {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    text: (alphabet: string, length: number): string =>
      Array.from({ length }, () => alphabet[integer(0, alphabet.length - 1)]).join(''),
    shuffle<T>(items: readonly T[]): T[] {
      return items
        .map((item) => ({ item, key: random() }))
        .toSorted((one, other) => one.key - other.key)
        .map(({ item }) => item)
    },
  }
}

export function createWorld(dice: Dice, publisherId: number): World {
  const groupIds = dice.shuffle(['Coffee', 'COFFEE', 'Coffee ', 'Tea', '']).slice(0, 2)
  const adGroups = Array.from({ length: dice.integer(2, 3) }, (_, index) => ({
    advertiserId: publisherId * 10 + (index === 0 ? 1 : dice.integer(1, 2)),
    campaignId: publisherId * 10 + index + 1,
    adGroupId: publisherId * 100 + index + 1,
  }))
  return {
    dice,
    publisherId,
    persons: createPersons(dice),
    products: Array.from({ length: dice.integer(2, 4) }, () => createProduct(dice, groupIds)),
    groupIds,
    adGroups,
    takenIds: new Set(),
  }
}

function createPersons(dice: Dice): Person[] {
  const persons: Person[] = []
  const count = dice.integer(1, 3)
  for (let index = 0; index < count; index++) {
    const userIds = [dice.chance(0.1) ? dice.pick(unluckyIds) : `device-${index}-a`]
    const sharedTablet = persons[0]?.userIds[0]
    if (sharedTablet !== undefined && dice.chance(0.4)) userIds.push(sharedTablet)
    else if (dice.chance(0.5)) userIds.push(`device-${index}-b`)

    const logins = Array.from({ length: dice.integer(0, 2) }, (_, at) => `login-${index}-${at}`)
    // A login that reads like a device: the two kinds of id must not meet.
    if (logins.length > 0 && dice.chance(0.15)) logins[0] = 'device-0-a'
    persons.push({ userIds, logins })
  }
  return persons
}

function createProduct(dice: Dice, groupIds: readonly string[]): Product {
  const groupId = dice.pick(groupIds)
  const digits = (length: number): string =>
    dice.text('123456789', 1) + dice.text('0123456789', length - 1)
  const number = digits(dice.pick([8, 12, 13, 14]))
  switch (dice.integer(0, 5)) {
    case 0: {
      const word = dice.text('ABCDEFGH', 4)
      return { spellings: [`Sku-${word}`], lookalike: `SKU-${word}`, groupId }
    }
    case 1: {
      // Ten digits are no GTIN length: a leading zero makes another product.
      const article = digits(10)
      return { spellings: [article], lookalike: `0${article}`, groupId }
    }
    default: {
      const lengths = [8, 12, 13, 14].filter((length) => length >= number.length)
      const spellings = lengths.map((length) => number.padStart(length, '0'))
      return { spellings, lookalike: number.padStart(15, '0'), groupId }
    }
  }
}

export function spell(dice: Dice, product: Product): string {
  const text = dice.chance(0.05) ? product.lookalike : dice.pick(product.spellings)
  if (!dice.chance(0.15)) return text
  return dice.pick([' ', '', '\t']) + text + dice.pick([' ', '  ', '\r\n'])
}

export function spellGroup(world: World, product: Product): string {
  return world.dice.chance(0.85) ? product.groupId : world.dice.pick([...world.groupIds, ''])
}

/** Random digits around the publisher's id: new in this history and in all other publishers'. */
export function createId(world: World): string {
  const { dice, publisherId, takenIds } = world
  const digits = '0123456789abcdef'
  const publisher = publisherId.toString(16).padStart(8, '0').slice(-8)
  for (;;) {
    const id = dice.text(digits, 16) + publisher + dice.text(digits, 8)
    if (takenIds.has(id)) continue
    takenIds.add(id)
    return id
  }
}
