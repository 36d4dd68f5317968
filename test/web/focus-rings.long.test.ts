import { expect, test } from 'bun:test'
import { navigateTo, waitForPage } from './navigate.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

/** Pages that together contain every type of field. */
const PAGES = ['/', '/issues', '/alerts/new', '/signals', '/domains/new', '/tests/new', '/settings/organization']
const MAX_STOPS = 60

test('every focused control shows a focus ring, which surrounds the whole row for a link in a table', async () => {
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
    for (let stop = 0; stop < MAX_STOPS; stop++) {
      await page.keyboard.press('Tab')
      const name = await page.evaluate(focusedWithoutRing)
      if (name) without.push(name)
    }
    if (without.length > 0) found[address] = [...new Set(without)]
  }
  expect(found).toEqual({})
})

/**
 * Returns a description of the focused element if neither the element nor its visual replacement or row has a 2 px
 * outline; otherwise null.
 */
function focusedWithoutRing(): string | null {
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

  /**
   * For a native checkbox or radio button, returns the element and its siblings, because a sibling is drawn in place of
   * the invisible element.
   */
  function siblingsOf(element: Element): Element[] {
    const isHidden = element instanceof HTMLInputElement && ['checkbox', 'radio'].includes(element.type)
    return isHidden && element.parentElement ? [...element.parentElement.children] : []
  }
}
