import { expect, test } from 'bun:test'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

test('the heading of a page is focused once it has loaded, so that screen readers announce it', async () => {
  await using server = await startTestServer()
  await using screen = await openScreen(server.url)
  const { page } = screen
  server.openIssues([{ title: 'Purchases have a value' }])
  await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await openAs(screen, server.app.owner.apiKey, '/')
  const follow = async (link: string, heading: string) => {
    // The click is simulated by a script, because moving the pointer over the link would preload the page.
    await page.waitForFunction(
      (name) => [...document.querySelectorAll('a')].some((one) => one.textContent === name),
      {},
      link,
    )
    await page.evaluate(
      (name) => [...document.querySelectorAll('a')].find((one) => one.textContent === name)?.click(),
      link,
    )
    await screen.sees('heading', heading)
    await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(heading)
  }
  await follow('Domains', 'Domains')
  await follow('shop.example', 'shop.example')
  await screen.press('Issues, 1', 'link')
  await screen.sees('heading', 'Issues')
  await follow('Purchases have a value', 'Purchases have a value')
})
