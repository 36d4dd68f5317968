import type { AuditPage } from '#client/types.gen'
import { joinIsolated } from '../../bidi-isolation.ts'
import { Data } from '../../components/data-text.tsx'
import { Duration, Num } from '../../components/numbers.tsx'
import { type Column, type PagedQuery, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import classes from './audited-pages-table.module.css'

/** The pages of an audit: tags that fired, missing tags, and tags that fired before consent. */
export function PageTable({ pages, query }: { pages: readonly AuditPage[]; query: PagedQuery }) {
  const origins = new Set(pages.map(({ url }) => new URL(url).origin))
  return (
    <VirtualTable
      name={messages.tests.pages}
      rows={pages}
      columns={columns(origins.size === 1)}
      idOf={({ url }) => url}
      pages={query}
      isGrowing
    />
  )
}

const named = (tags: readonly { vendor: string | null; event: string | null }[]) =>
  tags.map(({ vendor, event }) => joinIsolated([vendor, event], ' ')).join(', ')

function columns(areOfOneHost: boolean): Column<AuditPage>[] {
  const t = messages.tests
  return [
    { id: 'page', head: t.page, isMain: true, cell: (page) => <Page page={page} isShort={areOfOneHost} /> },
    {
      id: 'status',
      head: t.response,
      width: '70px',
      isFigure: true,
      cell: ({ status }) => <Num value={status} />,
    },
    {
      id: 'tags',
      head: t.tags,
      width: '56px',
      isFigure: true,
      cell: ({ tags }) => <Num value={tags.length} />,
    },
    {
      id: 'twice',
      head: t.duplicates,
      width: '90px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ duplicates }) => <Num value={duplicates.length} />,
    },
    {
      id: 'errors',
      head: t.errorCount,
      width: '80px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ errors }) => <Num value={errors.length} />,
    },
    {
      id: 'missing',
      head: t.missing,
      width: '220px',
      hideBelow: 768,
      cell: ({ missing }) => missing.length > 0 && <Data className={classes.whole}>{named(missing)}</Data>,
    },
    {
      id: 'early',
      head: t.beforeConsent,
      width: '150px',
      hideBelow: 1200,
      cell: ({ beforeConsent }) =>
        beforeConsent.length > 0 && <Data className={classes.whole}>{named(beforeConsent)}</Data>,
    },
    {
      id: 'load',
      head: t.loadTime,
      width: '100px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ loadMs }) => <Duration ms={loadMs} />,
    },
  ]
}

/** `isShort` omits the host when all pages share it. */
function Page({ page, isShort }: { page: AuditPage; isShort: boolean }) {
  const { url, title, error, missing, beforeConsent } = page
  const t = messages.tests
  const { pathname, search } = new URL(url)
  return (
    <div>
      <Data>{isShort ? pathname + search : url}</Data>
      {(error || title) && (
        <div className="under">
          <Data className={error ? classes.whole : undefined}>{error || title}</Data>
        </div>
      )}
      {/* Phones have no room for these columns. */}
      <div className={classes.narrow}>
        {missing.length > 0 && (
          <div className="under">
            {t.missing} <Data>{named(missing)}</Data>
          </div>
        )}
        {beforeConsent.length > 0 && (
          <div className="under">
            {t.beforeConsent} <Data>{named(beforeConsent)}</Data>
          </div>
        )}
      </div>
    </div>
  )
}
