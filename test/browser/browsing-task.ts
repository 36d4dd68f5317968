import { Browsers } from '../../src/browser/browser-pool.ts'
import type { Task } from '../../src/browser/browser-task.ts'
import type { BrowsingOptions } from '../../src/browser/browsing.ts'
import { browseForParent } from '../../src/browser/browsing-process.ts'
import { openBrowsing } from '../../src/browser/open-browsing.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'

/**
 * Plan of the test task, which runs in place of the program's own tasks. The task opens a page, reports its title, and
 * then does what `after` says.
 */
export interface TestPlan {
  browsing: BrowsingOptions
  url: string
  after: 'end' | 'fail' | 'wait' | 'pause' | 'hang' | 'take memory' | 'take disk'
}

const open: Task<TestPlan, string> = async ({ browsing: options, url, after }, tell, stopping, place) => {
  await using browsing = await openBrowsing(options, stopping)
  await browsing.page.goto(url)
  tell(await browsing.page.title())
  if (after === 'end') return
  if (after === 'fail') throw new Error('as planned')
  if (after === 'pause') {
    place.leave()
    await fetch(`${url}resumed`, { signal: stopping })
    await place.enter()
    return tell('went on')
  }
  if (after === 'hang') for (;;) Bun.sleepSync(1000)
  if (after === 'take memory') void browsing.page.evaluate(TAKE_MEMORY).catch(() => undefined)
  if (after === 'take disk') void browsing.page.evaluate(TAKE_DISK).catch(() => undefined)
  throw new Error(await browsing.gone)
}

const TAKE_MEMORY = `{ const all = []; setInterval(() => all.push(new Uint8Array(32 * 2 ** 20).fill(1)), 20) }`

const TAKE_DISK = `(async () => {
  const cache = await caches.open('all')
  for (let n = 0; ; n++) await cache.put('/' + n, new Response(crypto.getRandomValues(new Uint8Array(65_536))))
})()`

/** Starts a run whose page stays open, and prints the page's title. */
async function serve({ chromium, folder, url }: { chromium: string; folder: string; url: string }): Promise<void> {
  const command = [process.execPath, '--no-env-file', import.meta.path]
  const own = { outboundAllow: ['127.0.0.1'], outboundProxy: '', outboundCa: '' }
  await new Browsers({ chromium, folder, concurrency: 1, command, ...own }).run<TestPlan, string>({
    orgId: 'org_1',
    task: 'walk',
    limitMs: 60_000,
    stopping: new AbortController().signal,
    plan: (has) => ({
      browsing: {
        ...has,
        device: 'desktop',
        vendorRequests: 'answer',
        secrets: [],
        privacy: PLAIN_PRIVACY,
        userAgentSuffix: '',
      },
      url,
      after: 'wait',
    }),
    onStart: () => undefined,
    onMessage: (title) => console.log(title),
  })
}

const [, , command, options = ''] = process.argv
if (command === 'serve') await serve(JSON.parse(options))
if (process.send) await browseForParent({ walk: async () => open as Task })
