import { useQuery } from '@tanstack/react-query'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import { Data } from '../../parts/data.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { words } from '../../words.ts'

/** `/issues`: the list of issues. */
export function IssuesPage() {
  const query = useQuery(listIssuesOptions({ query: {} }))
  return (
    <>
      <PageHead title={words.shell.pages.issues} />
      <QueryState query={query}>
        {({ issues }) =>
          issues.map(({ id, title }) => (
            <p key={id}>
              <Data>{title}</Data>
            </p>
          ))
        }
      </QueryState>
    </>
  )
}
