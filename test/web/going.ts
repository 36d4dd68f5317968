import type { Page } from 'puppeteer-core'

/** Goes to the address within the page, as its links do, and waits until it is whole. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    for (const heading of document.querySelectorAll('h1')) heading.dataset.left = 'true'
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))
  }, address)
  await settled(page)
}

/** Waits until the page has its heading, and nothing of it is loading. */
export async function settled(page: Page): Promise<void> {
  const isThere = () =>
    document.querySelector('h1:not([data-left])') !== null &&
    document.querySelector('[aria-busy=true], [data-asking], [data-loading=true]') === null
  await page.waitForFunction(isThere, { polling: 20 })
}
