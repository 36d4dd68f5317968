import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../../..')

test('a channel, a provider, a type of alert and an insight that the pages do not know have their forms there', async () => {
  const here = './test/web/plugin-forms'
  const story = Bun.spawn(
    [
      ...[process.execPath, 'test', '--timeout=60000'],
      ...['--preload', `${here}/preload.ts`, `${here}/with-plugins.ts`],
    ],
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const [said, code] = await Promise.all([new Response(story.stderr).text(), story.exited])
  expect({ said, code }).toMatchObject({ code: 0 })
})
