import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { benches } from '../bench/list.ts'

const INDEX = join(import.meta.dir, '../bench/index.ts')
/** Need a browser for long; the tests of `test/web`, `test/flows` and `test/audits` go the same ways. */
const LEFT_OUT = ['pages', 'runs']

/** Figures are not looked at: they say something on a quiet machine, and of full sizes, only. */
describe('a bench runs to its end', () => {
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
