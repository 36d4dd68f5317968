import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { benches } from '../bench/list.ts'

const INDEX = join(import.meta.dir, '../bench/index.ts')
/** Benches that need a browser for a long time. `test/web`, `test/flows` and `test/audits` test the same code paths. */
const LEFT_OUT = ['pages', 'runs']

/** The figures are not checked: they are only meaningful at full size on an otherwise idle machine. */
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
