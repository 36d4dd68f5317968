import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addMember, createUser } from '../../src/org/store.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { until } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { openScreen } from './screen.ts'
import { create, openAs, startTestServer } from './test-server.ts'

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
  // With the keyboard, because a click misses a field that moves while the page loads.
  await (await page.waitForSelector('input[aria-label="Assignee"]'))?.press('ArrowDown')
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

test('ownership rules are added, edited, moved and deleted, and an error appears at its field', async () => {
  const { server, ann } = await start()
  await using _server = server
  const { app, url } = server
  const shop = await create(app, '/v1/domains', { name: 'shop.example' })
  await using screen = await openScreen(url, browser.browser)
  const { page } = screen
  await page.setViewport({ width: 1280, height: 1000 })
  await openAs(screen, app.owner.apiKey, '/settings/ownership')
  const rules = async () => (await app.call('GET', '/v1/org/ownership')).body.rules
  const untilRules = (expected: object[]) =>
    until('the rules', async () => {
      const present = await rules()
      return present.length === expected.length && Bun.deepMatch(expected, present)
    })
  const closed = () => page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
  await screen.press('New rule')
  await screen.type('Page path starts with', 'checkout')
  await screen.press('Save')
  await screen.reads('must have a format such as /checkout/')
  const invalid = () => page.$eval('[role=dialog] [aria-invalid=true]', (field) => (field as HTMLInputElement).value)
  expect(await invalid()).toBe('checkout')
  expect(await axeFindings(page)).toEqual([])
  await screen.type('Page path starts with', '/checkout')
  await screen.press('Domain', 'combobox')
  await screen.press('shop.example', 'option')
  await screen.press('Assignee', 'combobox')
  await screen.press('Ann', 'option')
  await screen.press('Add a channel')
  await screen.type('Target 1', 'nobody')
  await screen.press('Save')
  await until('the error at the target', async () => (await invalid()) === 'nobody')
  await screen.type('Target 1', 'team@example.com')
  await screen.press('Save')
  const first = {
    match: { domainId: shop.id, pathPrefix: '/checkout' },
    assigneeId: ann,
    channels: [{ type: 'email', target: 'team@example.com' }],
  }
  await untilRules([first])

  await closed()
  await screen.press('New rule')
  await screen.type('Vendor', 'Meta Pixel')
  await screen.press('Save')
  const second = { match: { vendor: 'Meta Pixel' }, assigneeId: null, channels: [] }
  await untilRules([first, second])
  await closed()
  await screen.press('Move rule 2 up')
  await untilRules([second, first])
  await screen.press('Edit rule 1')
  await screen.sees('dialog', 'Edit rule')
  await screen.type('Vendor', 'Google Analytics 4')
  await screen.press('Save')
  await untilRules([{ ...second, match: { vendor: 'Google Analytics 4' } }, first])
  await closed()
  await screen.press('Delete rule 1')
  await untilRules([first])
  await screen.reads('Rule deleted.')
})

test('selected issues are assigned together, and the change is undone', async () => {
  const { server, ann } = await start()
  await using _server = server
  server.openIssues([{ title: 'One' }, { title: 'Two' }, { title: 'Three' }])
  await using screen = await openScreen(server.url, browser.browser)
  const { page } = screen
  await page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, '/issues')
  await screen.sees('table', 'Issues')
  const assignees = async () =>
    (await server.app.call('GET', '/v1/issues')).body.issues.map(({ assigneeId }: { assigneeId: string }) => assigneeId)
  const untilAssigned = (expected: (string | null)[]) =>
    until('the assignees', async () => Bun.deepEquals(await assignees(), expected))
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.down('Shift')
  await page.keyboard.press('j')
  await page.keyboard.up('Shift')
  await screen.reads('2 selected')
  await screen.press('Assign')
  await screen.sees('menuitem', 'Ann')
  // The contrast is lower while the menu fades in.
  await page.waitForFunction(() => document.getAnimations().length === 0)
  expect(await axeFindings(page)).toEqual([])
  await screen.press('Ann', 'menuitem')
  await screen.reads('2 issues assigned.')
  await untilAssigned([ann, ann, null])
  await screen.press('Undo')
  await untilAssigned([null, null, null])
})
