import { expect, test } from 'bun:test'
import { named } from './screen.ts'
import { openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()

test('each keyboard shortcut in the list opens the page with its name', async () => {
  const { screen, server } = here
  const { page } = screen
  await openAs(screen, server.app.owner.apiKey, '/settings/preferences')
  await screen.sees('heading', 'Preferences')
  await page.keyboard.press('?')
  await screen.sees('dialog', 'Keyboard shortcuts')
  const shortcuts = await page.$$eval('[role=dialog] tr', (rows) =>
    rows
      .map((row) => ({
        keys: [...row.querySelectorAll('kbd')].map((key) => key.textContent),
        name: row.lastChild?.textContent,
      }))
      .filter(({ keys }) => keys.length === 2 && keys[0] === 'g'),
  )
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
  expect(shortcuts).toHaveLength(12)
  expect(new Set(shortcuts.map(({ keys }) => keys.join(' '))).size).toBe(12)
  for (const { keys, name } of shortcuts) {
    for (const key of keys) await page.keyboard.press(key as 'g')
    // The entry in the navigation, or the heading of a page that is not listed there.
    await page.waitForFunction(
      (name) => [...document.querySelectorAll('nav [aria-current=page], h1')].some((one) => one.textContent === name),
      {},
      name,
    )
  }
})

test('a new alert keeps its input when the address changes', async () => {
  const { screen, server } = here
  await openAs(screen, server.app.owner.apiKey, '/')
  await screen.sees('heading', 'Overview')
  await screen.page.keyboard.press('c')
  await screen.sees('heading', 'New alert')
  await screen.type('Name', 'Purchases')
  await screen.press('7 d', 'radio')
  await screen.page.waitForFunction(() => location.search === '?range=7d')
  expect(await screen.page.$eval(named('textbox', 'Name'), (field) => (field as HTMLInputElement).value)).toBe(
    'Purchases',
  )
})
