import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../../..')

test('channels, providers, alert types and insights added by plug-ins have forms', async () => {
  const here = './test/web/plugin-forms'
  const child = Bun.spawn(
    [process.execPath, 'test', '--timeout=60000', '--preload', `${here}/preload.ts`, `${here}/with-plugins.ts`],
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const [output, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  expect({ output, code }).toMatchObject({ code: 0 })
})
