import { readAudit } from '../../src/audits/audit-input.ts'
import { addPage, beginAudit, endAudit, queueAudit } from '../../src/audits/store.ts'
import type { Instant } from '../../src/core/clock.ts'
import type { Db } from '../../src/store/database.ts'

/** Stores a finished audit of one page and returns its id. Every string on the page is `text`. */
export function storeAudit(
  db: Db,
  now: Instant,
  { orgId, name, text = 'Shop' }: { orgId: string; name: string; text?: string },
): string {
  const settings = readAudit({ name, startUrls: ['https://shop.example/'] }, now)
  const { id } = queueAudit(db, now, { orgId, settings, region: 'local' }).audit
  beginAudit(db, id, now)
  const [vendor, event] = [text, text]
  addPage(
    db,
    id,
    {
      url: `https://shop.example/${encodeURIComponent(text)}`,
      status: 200,
      depth: 0,
      title: text,
      loadMs: 120,
      bytes: 4000,
      requests: 3,
      error: text,
      tags: [{ vendor, event, account: text, count: 2 }],
      missing: [{ vendor, event }],
      duplicates: [{ vendor, event, count: 2 }],
      beforeConsent: [{ vendor, event }],
      errors: [text],
    },
    { pagesTotal: 1, pagesFailed: 1, vendors: 1, missing: 1, duplicates: 1, beforeConsent: 1, errors: 1 },
  )
  endAudit(db, id, {
    error: null,
    now,
    differences: { since: id, pages: [{ url: text, change: 'tag_new', vendor, event }] },
  })
  return id
}
