import { IconWorld } from '@tabler/icons-react'
import { getDomainOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { DOMAINS, domainsQuery, LIVE } from './queries.ts'

const paths = PAGE_PATHS.domains

/** The queries of the pages of one domain. */
const domainQueries = ({ id }: { id: string }) => [getDomainOptions({ path: { id } })]

export const domainsPages = [
  page({
    path: paths.list,
    menu: { title: () => messages.shell.pages.domains, keys: 'g d', navigation: { group: 'watch', icon: IconWorld } },
    search: DOMAINS,
    queries: (values) => [domainsQuery(values)],
    view: lazyView(() => import('./domains-page.tsx'), 'DomainsPage'),
  }),
  page({
    path: paths.new,
    menu: {
      title: () => messages.palette.addDomain,
      keywords: () => messages.palette.addDomainKeywords,
      action: 'admin',
    },
    view: lazyView(() => import('./add-domain-page.tsx'), 'AddDomainPage'),
  }),
  page({
    path: paths.item,
    queries: domainQueries,
    view: lazyView(() => import('./domain/domain-summary-page.tsx'), 'DomainSummaryPage'),
  }),
  page({
    path: paths.setup,
    queries: domainQueries,
    view: lazyView(() => import('./domain/domain-setup-page.tsx'), 'DomainSetupPage'),
  }),
  page({
    path: paths.live,
    search: LIVE,
    queries: domainQueries,
    view: lazyView(() => import('./domain/live-page.tsx'), 'DomainLivePage'),
  }),
  page({
    path: paths.hostnames,
    queries: domainQueries,
    view: lazyView(() => import('./domain/hostnames-page.tsx'), 'DomainHostnamesPage'),
  }),
  page({
    path: paths.vendors,
    queries: domainQueries,
    view: lazyView(() => import('./domain/vendors-page.tsx'), 'DomainVendorsPage'),
  }),
  page({
    path: paths.sampling,
    queries: domainQueries,
    view: lazyView(() => import('./domain/sampling-page.tsx'), 'DomainSamplingPage'),
  }),
  page({
    path: paths.settings,
    queries: domainQueries,
    view: lazyView(() => import('./domain/domain-settings-page.tsx'), 'DomainSettingsPage'),
  }),
] as const
