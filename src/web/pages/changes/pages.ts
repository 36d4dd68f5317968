import { IconArrowsDiff, IconGitCommit } from '@tabler/icons-react'
import { getGateRunOptions } from '#client/@tanstack/react-query.gen'
import type { ChangeList, DomainList, ReleaseList } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { type PrefetchOptions, sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'
import { timeRangeOf } from '../../url-state/use-search-params.ts'
import { lazyView, page } from '../page.ts'
import {
  COMPARE,
  type CompareValues,
  comparisonQuery,
  type Domain,
  releasesQuery,
  sidesOf,
  withDefaults,
  withFirst,
} from './compare-sides.ts'
import { CHANGES, changesQuery, gateRunsQuery, latestChangeQuery } from './queries.ts'

const paths = PAGE_PATHS.changes

export const changesPages = [
  page({
    path: paths.list,
    menu: {
      title: () => messages.shell.pages.changes,
      keys: 'g c',
      navigation: { group: 'understand', icon: IconGitCommit },
    },
    search: CHANGES,
    queries: (values) => [changesQuery(values), sharedQueries.domains()],
    view: lazyView(() => import('./changes-page.tsx'), 'ChangesPage'),
  }),
  page({ path: paths.item, view: lazyView(() => import('./change-page.tsx'), 'ChangePage') }),
  page({
    path: paths.compare,
    menu: {
      title: () => messages.shell.pages.compare,
      navigation: { group: 'understand', icon: IconArrowsDiff },
    },
    search: COMPARE,
    queries: (values) => [
      {
        ...sharedQueries.domains(),
        next: ({ domains }: DomainList) => [
          {
            ...latestChangeQuery(),
            next: ({ changes }: ChangeList) => comparedQueries(values, withFirst(domains, changes[0]?.domainId)),
          },
        ],
      },
    ],
    view: lazyView(() => import('./compare-page.tsx'), 'ComparePage'),
  }),
  page({
    path: paths.gate,
    queries: () => [gateRunsQuery()],
    view: lazyView(() => import('./gate-runs-page.tsx'), 'GateRunsPage'),
  }),
  page({
    path: paths['gate-run'],
    queries: ({ id }) => [getGateRunOptions({ path: { id } })],
    view: lazyView(() => import('./gate-run-page.tsx'), 'GateRunPage'),
  }),
] as const

type Compared = CompareValues & Pick<ValuesOf<SharedParams>, 'range' | 'from' | 'to'>

/** Returns the queries of a comparison. Those of two releases begin with the list of releases. */
function comparedQueries(values: Compared, domains: readonly Domain[]): PrefetchOptions[] {
  const range = timeRangeOf(values)
  const domainIds = domains.map(({ id }) => id)
  const compared = (versions: readonly number[]) => {
    const sides = sidesOf(withDefaults(values, { domainIds, versions, ...range }), range)
    return sides === null ? [] : [comparisonQuery(sides)]
  }
  const domainId = values.domainId || domainIds[0]
  if (values.by !== 'versions') return compared([])
  if (domainId === undefined) return []
  const next = ({ releases }: ReleaseList) => compared(releases.map(({ version }) => version))
  return [{ ...releasesQuery(domainId), next }]
}
