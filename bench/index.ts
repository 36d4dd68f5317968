import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { benches } from './list.ts'
import { IS_TINY, WANTED } from './tools/bench-size.ts'
import { lineOf } from './tools/budget.ts'

/**
 * `npm run bench [-- NAME…]`: measures the executable. Most figures are ratios of two values measured in the same run,
 * and each has a limit. `soak` takes half an hour or `--minutes`, and only runs when it is named. With `--tiny`, each
 * benchmark only verifies that it runs, using the program built for tests.
 */
const [cpu] = cpus()
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Bun ${Bun.version}`,
)
// Rebuilds the program, so that the current sources are measured.
if (!IS_TINY) {
  const build = Bun.spawnSync([process.execPath, join(import.meta.dir, '../build.ts')], { stdout: 'inherit' })
  if (!build.success) throw new Error(`the build failed: ${build.stderr}`)
}
let missed = 0
for (const [name, bench] of Object.entries(benches)) {
  if (WANTED.length > 0 ? !WANTED.includes(name) : name === 'soak') continue
  console.log(`\n## ${name}\n`)
  const startedAt = performance.now()
  const budgets = await bench()
  if (budgets.some(({ value }) => Number.isNaN(value)))
    throw new Error(`${name} returned a figure that is not a number`)
  console.log(['', '| figure | measured | budget | |', '|---|---|---|---|', ...budgets.map(lineOf)].join('\n'))
  console.log(`\n${name} took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  missed += budgets.filter(({ kept }) => !kept).length
}
// Exits immediately, because a timer may still be active after a timeout.
process.exit(missed > 0 && !IS_TINY ? 1 : 0)
