import type { Page } from 'puppeteer-core'

/** A page that sends no requests. */
const BLANK_PAGE = '/settings/preferences'

/** Navigates to the path within the dashboard, as links do, and waits until the page has loaded. */
export async function navigateTo(page: Page, address: string): Promise<void> {
  // Pages of items of the same kind may have the same heading, so the new page could be mistaken for the old one.
  // Another page is therefore visited in between.
  await pushAndWait(page, BLANK_PAGE)
  await pushAndWait(page, address)
}

async function pushAndWait(page: Page, address: string): Promise<void> {
  const isLoaded = await page.evaluate((to) => {
    if (location.pathname + location.search === to) return true
    for (const heading of document.querySelectorAll('h1')) heading.dataset.left = 'true'
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))
    return false
  }, address)
  if (!isLoaded) await waitForPage(page)
}

/** Waits until the page shows its heading and nothing is loading. */
export async function waitForPage(page: Page): Promise<void> {
  const isLoaded = () =>
    document.querySelector('h1:not([data-left])') !== null &&
    document.querySelector('[aria-busy=true], [data-asking], [data-loading=true]') === null
  await page.waitForFunction(isLoaded, { polling: 20 })
}
