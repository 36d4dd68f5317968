import type { AuditPage, Differences } from './audit.ts'
import { isFailed } from './expected-page.ts'

const DIFFERENCES_MAX = 1000

/** One crawl. */
export interface Crawled {
  id: string
  pages: readonly AuditPage[]
  /** Whether it saw every page that there was for it, and not only as many as it may. */
  isAll: boolean
}

/**
 * Returns what is different from the crawl before. A page that one of them did not come to is new or gone only when the other
 * saw all pages; of a page that could not be loaded, only its status is compared.
 */
export function differencesBetween(before: Crawled, after: Crawled): Differences {
  const old = new Map(before.pages.map((page) => [page.url, page]))
  const present = new Map(after.pages.map((page) => [page.url, page]))
  const all = [
    ...after.pages.flatMap((page) => {
      const was = old.get(page.url)
      if (was) return changesOf(was, page)
      return before.isAll ? [{ url: page.url, change: 'page_new', vendor: null, event: null } as const] : []
    }),
    ...before.pages.flatMap(({ url }) =>
      after.isAll && !present.has(url) ? [{ url, change: 'page_gone', vendor: null, event: null } as const] : [],
    ),
  ]
  return { since: before.id, pages: all.slice(0, DIFFERENCES_MAX) }
}

function changesOf(was: AuditPage, is: AuditPage): Differences['pages'] {
  const { url } = is
  const status = was.status === is.status ? [] : [{ url, change: 'status', vendor: null, event: null } as const]
  if (isFailed(was) || isFailed(is)) return status
  const gone = tagsMissingIn(is, was).map((tag) => ({ url, change: 'tag_gone', ...tag }) as const)
  const added = tagsMissingIn(was, is).map((tag) => ({ url, change: 'tag_new', ...tag }) as const)
  return [...status, ...gone, ...added]
}

/** Tags of `other` that `page` has not, each once. */
function tagsMissingIn(page: AuditPage, other: AuditPage): { vendor: string; event: string }[] {
  const spell = ({ vendor, event }: { vendor: string; event: string }) => JSON.stringify([vendor, event])
  const there = new Set(page.tags.map(spell))
  const missing = new Map(other.tags.map(({ vendor, event }) => [spell({ vendor, event }), { vendor, event }]))
  return [...missing].filter(([key]) => !there.has(key)).map(([, tag]) => tag)
}
