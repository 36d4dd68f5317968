import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

// By hand until it is steady, `./run test ./test/web/made-up/made-up.by-hand.ts`: keys that come while a field is drawn anew are lost at times.
const ROOT = resolve(import.meta.dir, '../../..')
const TEST_MS = 240_000

test(
  'a channel, a provider, a type of alert and an insight that the pages do not know have their forms there',
  async () => {
    // Keys that come while a field is drawn anew are lost at times: what the pages can not do fails each time.
    const first = await tell()
    const last = first.code === 0 ? first : await tell()
    expect(last.code === 0 ? last : await tell()).toMatchObject({ code: 0 })
  },
  TEST_MS,
)

async function tell(): Promise<{ said: string; code: number }> {
  const here = './test/web/made-up'
  const story = Bun.spawn(
    [
      ...[process.execPath, 'test', '--timeout=60000'],
      ...['--preload', `${here}/preload.ts`, `${here}/made-up.story.ts`],
    ],
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const [said, code] = await Promise.all([new Response(story.stderr).text(), story.exited])
  return { said, code }
}
