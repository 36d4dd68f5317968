import type { Page } from 'puppeteer-core'

/** More links of one page are not followed. */
const LINKS_MAX = 2000
const TITLE_LENGTH_MAX = 300

/** Returns the title of a page and the addresses that it links to, in its order, shadow roots included. */
export function readPage(page: Page): Promise<{ title: string; links: string[] }> {
  return page.evaluate(
    (linksMax, titleMax) => {
      const links: string[] = []
      const roots: (Document | ShadowRoot)[] = [document]
      for (const root of roots) {
        for (const one of root.querySelectorAll<HTMLElement>('*')) {
          if (one.shadowRoot) roots.push(one.shadowRoot)
          const isLink = one instanceof HTMLAnchorElement || one instanceof HTMLAreaElement
          if (isLink && /^https?:/.test(one.href) && links.length < linksMax) links.push(one.href.slice(0, 4000))
        }
      }
      return { title: document.title.slice(0, titleMax), links: [...new Set(links)] }
    },
    LINKS_MAX,
    TITLE_LENGTH_MAX,
  )
}
