import { expect, test } from 'bun:test'
import { navigateTo, waitForPage } from './navigate.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

/** Pages with every kind of field. */
const PAGES = ['/', '/issues', '/alerts/new', '/signals', '/domains/new', '/tests/new', '/settings/organization']
const MOST_STOPS = 60

test('whatever has the focus of the keyboard shows a ring; of a link that is its row, the row does', async () => {
  await using server = await startTestServer()
  await using screen = await openScreen(server.url)
  const { page } = screen
  page.setDefaultTimeout(300_000)
  await page.setViewport({ width: 1280, height: 900 })
  server.openIssues([{ title: 'Purchases have a value' }])
  await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await openAs(screen, server.app.owner.apiKey, '/')
  await waitForPage(page)
  const found: Record<string, string[]> = {}
  for (const address of PAGES) {
    await navigateTo(page, address)
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    })
    const without: string[] = []
    for (let stop = 0; stop < MOST_STOPS; stop++) {
      await page.keyboard.press('Tab')
      const name = await page.evaluate(unringed)
      if (name) without.push(name)
    }
    if (without.length > 0) found[address] = [...new Set(without)]
  }
  expect(found).toEqual({})
})

/** The name of what has the focus when neither it, nor what is drawn for it, nor the row that is its link has an outline of 2 px; else null. */
function unringed(): string | null {
  const focused = document.activeElement
  if (!focused || focused === document.body) return null
  const row = focused instanceof HTMLAnchorElement ? focused.closest('tr') : null
  const drawn = [focused, row, focused.closest('.mantine-Input-input'), ...siblingsOf(focused)]
  const isRinged = drawn.some((element) => {
    const style = element && getComputedStyle(element)
    return style && style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 2
  })
  if (isRinged) return null
  return `${focused.tagName} ${focused.getAttribute('aria-label') ?? focused.id} ${focused.className}`.trim()

  /** Checkboxes, switches and choices are drawn by what stands beside them. */
  function siblingsOf(element: Element): Element[] {
    const isHidden = element instanceof HTMLInputElement && ['checkbox', 'radio'].includes(element.type)
    return isHidden && element.parentElement ? [...element.parentElement.children] : []
  }
}
