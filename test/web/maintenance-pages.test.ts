import { expect, test } from 'bun:test'
import { HOUR_MS } from '../../src/core/clock.ts'
import { create, openAs, sharedTestServer } from './test-server.ts'

const world = sharedTestServer()

test('a maintenance window is added, shown, and named on the issues that it covers', async () => {
  const { server, screen } = world
  server.openIssues([{ title: 'Purchase without a value' }])
  await create(server.app, '/v1/domains', { name: 'shop.example', system: 'global' })
  const now = server.app.clock.now()
  const key = server.keyOf('member')
  await screen.page.setViewport({ width: 360, height: 800 })
  await openAs(screen, key, '/settings/maintenance')
  await screen.reads('No maintenance windows.')
  await screen.press('Add window')
  await screen.sees('dialog', 'Add window')
  await screen.type('Name', 'Weekly deployment')
  await screen.press('Repeats', 'combobox')
  await screen.press('Custom rule', 'option')
  await screen.type('Recurrence rule', 'FREQ=SECONDLY')
  await screen.press('Save')
  await screen.reads('FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY')
  await screen.type('Recurrence rule', 'FREQ=WEEKLY;BYDAY=SU')
  // Five occurrences, each with its start and end.
  await screen.page.waitForFunction(
    () => document.querySelector('[role=dialog] [role=status]')?.textContent?.match(/–/g)?.length === 5,
  )
  await screen.press('Save')
  await screen.sees('button', 'Edit Weekly deployment')
  await create(server.app, '/v1/maintenance', {
    name: 'Move of the shop',
    from: now - HOUR_MS,
    to: now + HOUR_MS,
    timezone: 'UTC',
  })
  await screen.page.setViewport({ width: 1280, height: 800 })
  await screen.open('/settings/maintenance')
  await screen.reads('In maintenance until')
  for (const path of ['/issues', '/issues/iss_0', '/']) {
    await screen.open(path)
    await screen.reads('In maintenance until')
    await screen.reads('Move of the shop')
  }
  expect(screen.errors.filter((error) => !error.includes('400'))).toEqual([])
})

test("a country's calendar is added and shows its next holidays", async () => {
  const { server, screen } = world
  await create(server.app, '/v1/calendars', { name: 'Bavaria', country: 'DE-BY' })
  await screen.page.setViewport({ width: 360, height: 800 })
  await screen.open('/settings/calendars')
  await screen.sees('button', 'Delete Bavaria')
  await screen.reads('Holidays begin and end at midnight in the time zone UTC.')
  await screen.press('Add calendar')
  await screen.type('Name', 'Saxony')
  await screen.type('Country or region', 'Sachsen')
  await screen.press('Germany: Sachsen', 'option')
  await screen.press('Save')
  await screen.sees('button', 'Delete Saxony')
  expect(screen.errors.filter((error) => !error.includes('400'))).toEqual([])
})
