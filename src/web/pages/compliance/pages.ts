import { IconShieldCheck } from '@tabler/icons-react'
import type { ComplianceGroupList } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { sharedQueries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { BEFORE_CONSENT, COMPLIANCE, findingsQuery, groupsQuery, openAtFirst, optionsQuery } from './queries.ts'

export const compliancePages = [
  page({
    path: PAGE_PATHS.compliance.findings,
    menu: {
      title: () => messages.shell.pages.compliance,
      keys: 'g p',
      navigation: { group: 'understand', icon: IconShieldCheck },
    },
    search: COMPLIANCE,
    queries: (values) => [
      {
        ...groupsQuery(values),
        next: ({ groups }: ComplianceGroupList) => openAtFirst(groups).map(({ value }) => findingsQuery(values, value)),
      },
      sharedQueries.domains(),
      optionsQuery('vendor', values.project),
      optionsQuery('kind', values.project),
    ],
    view: lazyView(() => import('./compliance-page.tsx'), 'CompliancePage'),
  }),
  page({
    path: PAGE_PATHS.compliance['before-consent'],
    menu: { title: () => messages.beforeConsent.title },
    search: BEFORE_CONSENT,
    queries: () => [sharedQueries.domains()],
    view: lazyView(() => import('./before-consent-page.tsx'), 'BeforeConsentPage'),
  }),
] as const
