import { expect, test } from 'bun:test'
import { openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()
const PAGES = [
  ['/issues/nothing', 'issue', '/issues', '/v1/issues/nothing'],
  ['/alerts/nothing', 'alert', '/alerts', '/v1/alerts/nothing'],
  ['/domains/nothing/live', 'domain', '/domains', '/v1/domains/nothing'],
  ['/changes/nothing', 'change', '/changes', '/v1/changes'],
  ['/tests/nothing', 'test', '/tests', '/v1/flows/tests/nothing'],
  ['/tests/runs/nothing', 'run', '/tests', '/v1/flows/runs/nothing'],
  ['/audits/nothing', 'audit', '/audits', '/v1/audits/nothing'],
  ['/integrations/nothing', 'integration', '/integrations', '/v1/integrations/nothing'],
] as const

test.each(PAGES)('%s reports that the %s does not exist, and links to the list', async (path, thing, list) => {
  await openAs(here.screen, here.server.app.owner.apiKey, path)
  await here.screen.reads(`There is no such ${thing}`)
  // The page may have no heading for a moment while it re-renders.
  await here.screen.page.waitForFunction(() => document.querySelectorAll('h1').length === 1)
  await here.screen.page.waitForSelector(`main a[href^="${list}"]`)
  await here.screen.page.waitForFunction(
    (title) => document.title === title,
    {},
    `There is no such ${thing} · Tagwarden`,
  )
})

test.each(PAGES)(
  '%s has a heading and a title while the server is unavailable',
  async (path, _thing, _list, endpoint) => {
    here.server.refuse(`GET ${endpoint}`, 503, 'the store is busy')
    try {
      await openAs(here.screen, here.server.app.owner.apiKey, path)
      await here.screen.reads('the store is busy')
      await here.screen.page.waitForFunction(() => document.querySelectorAll('h1').length === 1)
      expect(await here.screen.page.title()).toEndWith(' · Tagwarden')
    } finally {
      here.server.refuse(null)
    }
  },
)
