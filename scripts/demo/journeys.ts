import { advertisers, markets, publishers, shownAdvertiserId } from './catalog.ts'
import { JourneyBuilder, type Journey, type Place, type Shopper } from './journey.ts'
import { oddScenarios } from './odd-scenarios.ts'
import { Random } from './random.ts'
import { returnScenarios } from './return-scenarios.ts'
import { ordinaryScenarios, type Scenario } from './scenarios.ts'

const everyScenario: ReadonlyMap<string, Scenario> = new Map(
  Object.entries({ ...ordinaryScenarios, ...oddScenarios, ...returnScenarios })
)

const names = [...everyScenario.keys()]

// The shoppers who try all that can go wrong are shown the other advertisers' products, so that the account
// that the demo shows has the rates of a real one. Every tenth shopper belongs to it.
const oddBrands = advertisers.map(({ id }) => id).filter((id) => id !== shownAdvertiserId)
const shownEvery = 10

// Most shoppers look around or buy what they clicked; the rest is spread over all scenarios.
const commonShare = 0.6
const common = [
  'browse',
  'browse',
  'clickAndLeave',
  'clickThenBuy',
  'viewThenBuy',
  'phoneThenLaptop',
]

function placesOf(brands: readonly number[]): readonly Place[] {
  const own = advertisers.filter(({ id }) => brands.includes(id))
  return publishers.flatMap(({ id }) =>
    markets
      .filter((market) => own.some(({ access }) => isOpen(access, { id, market })))
      .map((market) => ({ publisherId: id, market }))
  )
}

interface Access {
  readonly publisherId: number
  readonly marketIds: readonly number[]
}

/** One journey per shopper. Each scenario is played once before chance decides. */
export function planJourneys({ seed, shoppers }: { seed: number; shoppers: number }): Journey[] {
  return Array.from({ length: shoppers }, (_, index) => planJourney(seed, index))
}

function planJourney(seed: number, index: number): Journey {
  const random = new Random(Math.imul(seed, 1_000_003) + index)
  const isShown = index >= names.length && index % shownEvery === 0
  const name = isShown ? 'lookAround' : (names[index] ?? pickName(random))
  const scenario = everyScenario.get(name)
  if (scenario === undefined) throw new Error(`no scenario ${name}`)

  const brands = isShown ? [shownAdvertiserId] : oddBrands
  const place = random.pick(placesOf(brands))
  const builder = new JourneyBuilder({
    random,
    place,
    shopper: shopperOf(index, random),
    index,
    brands,
  })
  scenario(builder)
  return builder.build(name)
}

function pickName(random: Random): string {
  return random.chance(commonShare) ? random.pick(common) : random.pick(names)
}

function shopperOf(index: number, random: Random): Shopper {
  const userId = `shopper-${index}`
  return random.chance(0.4) ? { userId, userLoggedInId: `login-${index}` } : { userId }
}

function isOpen(
  access: readonly Access[],
  place: { id: number; market: Place['market'] }
): boolean {
  return access.some(
    ({ publisherId, marketIds }) => publisherId === place.id && marketIds.includes(place.market.id)
  )
}
