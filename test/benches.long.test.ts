import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { benches } from '../bench/list.ts'

const INDEX = join(import.meta.dir, '../bench/index.ts')
/**
 * Benchmarks that use a browser for a long time. The tests in `test/web`, `test/flows` and `test/audits` cover the same
 * code.
 */
const LEFT_OUT = ['pages', 'runs']

/** The measured figures are not checked, because they are only meaningful at full size on an otherwise idle machine. */
describe('a benchmark runs to completion', () => {
  test.each(Object.keys(benches).filter((name) => !LEFT_OUT.includes(name)))('%s', async (name) => {
    const child = Bun.spawn([process.execPath, '--no-env-file', INDEX, '--tiny', name], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [printed, errors] = await Promise.all([child.stdout, child.stderr].map((from) => new Response(from).text()))
    if ((await child.exited) !== 0) throw new Error(`${printed}\n${errors}`)
    expect(printed).toContain(`${name} took`)
  })
})
