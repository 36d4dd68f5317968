import { ERROR } from '../../src/changes/change-verdict.ts'
import { HARMFUL, HARMLESS, isNamed, momentOf } from '../../src/changes/release-scenarios.fixture.ts'
import { Shop } from '../../src/changes/shop.fixture.ts'
import { verdictOn } from '../../src/changes/tabulate.fixture.ts'
import { HOUR_MS } from '../../src/core/clock.ts'

/**
 * `./run bench/detector/changes.ts [ROUNDS [FIRST [SCALE]]]`: counts the simulated releases that receive a correct
 * verdict. A round consists of twenty harmful and fifty harmless releases, each in a different shop.
 */
const [rounds = 1, first = 0, scale = 1] = process.argv.slice(2).map(Number)
const options = { lengthMs: HOUR_MS, error: ERROR / 2 }
let [found, named, accused] = [0, 0, 0]
const wrong: string[] = []
for (let round = first; round < first + rounds; round++) {
  for (const [n, release] of HARMFUL.entries()) {
    const { name, doing } = release
    const seed = round * 1000 + n
    const at = momentOf(seed, true)
    const items = verdictOn(new Shop(seed, scale), doing(at), at, options).filter(({ harmful }) => harmful)
    found += items.length > 0 ? 1 : 0
    named += isNamed(release, items) ? 1 : 0
    if (!isNamed(release, items)) wrong.push(`${seed} missed: ${name}; ${items.map(({ detail }) => detail).join(' ')}`)
  }
  for (let n = 0; n < 50; n++) {
    const release = HARMLESS[n % HARMLESS.length]
    const seed = round * 1000 + 100 + n
    const at = momentOf(seed, false)
    const items = verdictOn(new Shop(seed, scale), release?.doing(at) ?? {}, at, options).filter(
      ({ harmful }) => harmful,
    )
    accused += items.length > 0 ? 1 : 0
    if (items.length > 0)
      wrong.push(`${seed} false alarm: ${release?.name}; ${items.map((i) => `${i.kind} ${i.detail}`).join(' ')}`)
  }
}
console.log(wrong.join('\n'))
console.log(
  `${20 * rounds} harmful releases: ${found} detected, ${named} with the right finding; ${50 * rounds} harmless releases: ${accused} false alarms`,
)
