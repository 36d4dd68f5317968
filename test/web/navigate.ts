import type { Page } from 'puppeteer-core'

/** A page that asks for nothing. */
const BLANK_PAGE = '/settings/preferences'

/** Goes to the address within the page, as its links do, and waits until it is whole. */
export async function navigateTo(page: Page, address: string): Promise<void> {
  // Two pages of one thing may keep their heading, by which one would see that the second is there.
  await pushAndWait(page, BLANK_PAGE)
  await pushAndWait(page, address)
}

async function pushAndWait(page: Page, address: string): Promise<void> {
  const isThere = await page.evaluate((to) => {
    if (location.pathname + location.search === to) return true
    for (const heading of document.querySelectorAll('h1')) heading.dataset.left = 'true'
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))
    return false
  }, address)
  if (!isThere) await waitForPage(page)
}

/** Waits until the page has its heading, and nothing of it is loading. */
export async function waitForPage(page: Page): Promise<void> {
  const isThere = () =>
    document.querySelector('h1:not([data-left])') !== null &&
    document.querySelector('[aria-busy=true], [data-asking], [data-loading=true]') === null
  await page.waitForFunction(isThere, { polling: 20 })
}
