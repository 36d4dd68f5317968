import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addMember, createUser } from '../../src/org/store.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

/** Starts a server with the member Ann. */
async function start() {
  const server = await startTestServer()
  const { app, clock, owner } = server.app
  const { id: ann } = createUser(app.db, clock, { email: 'ann@example.com', name: 'Ann' })
  addMember(app.db, clock, { orgId: owner.orgId, userId: ann, role: 'member' })
  return { server, ann }
}

test('an issue is assigned and commented on, with a mention', async () => {
  const { server, ann } = await start()
  await using _server = server
  const id = 'iss_0'
  server.openIssues([{ id, title: 'Purchases lack a value' }])
  await using screen = await openScreen(server.url, browser.browser)
  const { page } = screen
  await openAs(screen, server.app.owner.apiKey, `/issues/${id}`)
  await (await page.waitForSelector('input[aria-label="Assignee"]'))?.click()
  await screen.press('Ann', 'option')
  await screen.reads('Issue assigned.')
  const issue = async () => (await server.app.call('GET', `/v1/issues/${id}`)).body
  expect((await issue()).assigneeId).toBe(ann)
  await screen.type('New comment', 'Please look, @an')
  await screen.press('@Ann')
  await screen.press('Add comment')
  await screen.reads('Please look, @Ann')
  const entry = (await issue()).history.find(({ kind }: { kind: string }) => kind === 'commented')
  expect(entry.payload.mentioned).toEqual([ann])
  await screen.press('Delete comment')
  await screen.reads('No comments yet.')
})
