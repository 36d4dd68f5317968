import { afterAll, beforeAll, expect, test } from 'bun:test'
import { version } from '../../package.json'
import { collectorOf, listCollectors, recordContact } from '../../src/collectors/store.ts'
import { axeFindings } from './axe.ts'
import { layoutFaults } from './layout-faults.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

let server: TestServer
let screen: Screen
beforeAll(async () => {
  // ClickHouse is away, which does not concern this page.
  server = await startTestServer({ warehouse: 'clickhouse://127.0.0.1:9/tagwarden' })
  screen = await openScreen(server.url)
})
afterAll(async () => {
  await screen?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

test('an owner adds a collector, watches it, and removes it', async () => {
  const { app, clock } = server.app
  await openAs(screen, server.keyOf('member'), '/settings/collectors')
  await screen.reads('Viewing and adding collectors requires the Owner role or higher.')
  await openAs(screen, server.app.owner.apiKey, '/settings/collectors')
  await screen.reads('No collectors yet.')
  await shoot('empty')

  await screen.press('Add collector')
  await screen.sees('dialog', 'Add collector')
  await screen.type('Name', 'frankfurt-1')
  await screen.press('Add')
  await screen.reads('which is shown only once')
  const token = await screen.page.$eval('[role=dialog] input', ({ value }) => value)
  expect(collectorOf(app.db, token)?.name).toBe('frankfurt-1')
  const command = await screen.page.$eval('[role=dialog] textarea', ({ value }) => value)
  expect(command).toContain(`TAGWARDEN_COLLECTOR_TOKEN=${token} `)
  expect(command).toContain(`tagwarden collect --control ${server.url} `)
  await shoot('token')
  await screen.press('Copy command')
  await screen.reads('Copied.')
  await screen.press('I have stored it')
  await screen.reads('Never connected')
  expect(await screen.page.content()).not.toContain(token)

  for (const name of ['frankfurt-2', 'frankfurt-3']) await server.app.call('POST', '/v1/collectors', { body: { name } })
  const [one, two] = listCollectors(app.db)
  const contact = { instance: 'its folder', diskBytes: 1_300_000, freeBytes: 48_000_000_000 }
  const at = clock.now()
  recordContact(app.db, one?.id ?? '', {
    status: { ...contact, version, storedThrough: at - 2400 },
    now: at,
    isAway: false,
  })
  recordContact(app.db, two?.id ?? '', {
    status: { ...contact, version: '0.0.1', storedThrough: at - 700_000 },
    now: at - 600_000,
    isAway: true,
  })
  await screen.open('/settings/collectors')
  for (const text of ['Connected', 'Away', `This server is ${version}`, '2.4\u00a0s', '1.3\u00a0MB', '48\u00a0GB'])
    await screen.reads(text)
  await screen.reads('Alerts are evaluated without the events of collectors that are away.')
  await shoot('list')

  await screen.page.click('button[aria-label="Remove frankfurt-2"]')
  await screen.sees('dialog', 'Remove collector')
  await shoot('remove')
  await screen.page.click('[role=dialog] button.destroys')
  await screen.reads('Collector frankfurt-2 removed.')
  await screen.page.waitForSelector('button[aria-label="Remove frankfurt-2"]', { hidden: true })
  expect(listCollectors(app.db).map(({ name }) => name)).toEqual(['frankfurt-1', 'frankfurt-3'])
  expect(screen.errors).toEqual([])
})

test('the usage page names the estimated size in ClickHouse', async () => {
  const { app } = server
  const { token } = (await app.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  await app.collect(token, { events: [{ vendor: 'Shop', event: 'view' }] })
  app.clock.advance(5000)
  await app.run('flush')
  await openAs(screen, app.owner.apiKey, '/settings/usage')
  await screen.reads('In ClickHouse (estimate)')
  await shoot('usage')
})

test('without ClickHouse, the page explains what collectors require', async () => {
  await using plain = await startTestServer()
  await using own = await openScreen(plain.url)
  await openAs(own, plain.app.owner.apiKey, '/settings/collectors')
  await own.reads('Collectors require ClickHouse')
  expect(await own.has('button', 'Add collector')).toBe(false)
})

/** Checks the page at phone and desktop width in both themes. With `SHOTS`, also saves screenshots in that folder. */
async function shoot(name: string): Promise<void> {
  const { page } = screen
  for (const [width, theme] of [
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const) {
    await page.setViewport({ width, height: 800 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    await page.waitForFunction(() => document.getAnimations().length === 0)
    expect(await axeFindings(page)).toEqual([])
    expect(await layoutFaults(page)).toEqual([])
    const folder = process.env.SHOTS
    if (folder) await page.screenshot({ path: `${folder}/collectors-${name}-${width}-${theme}.png` })
  }
}
