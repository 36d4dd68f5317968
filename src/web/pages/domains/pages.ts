import { IconWorld } from '@tabler/icons-react'
import { getDomainOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { DOMAINS, domainsQuery, LIVE } from './queries.ts'

const paths = PAGE_PATHS.domains
const view = lazyViews(() => import('./views.ts'))

/** The queries of the pages of one domain. */
const domainQueries = ({ id }: { id: string }) => [getDomainOptions({ path: { id } })]

export const domainsPages = [
  page({
    path: paths.list,
    menu: { title: () => messages.shell.pages.domains, keys: 'g d', navigation: { group: 'watch', icon: IconWorld } },
    search: DOMAINS,
    queries: (values) => [domainsQuery(values)],
    view: view('DomainsPage'),
  }),
  page({
    path: paths.new,
    menu: {
      title: () => messages.palette.addDomain,
      keywords: () => messages.palette.addDomainKeywords,
      action: 'admin',
    },
    view: view('AddDomainPage'),
  }),
  page({ path: paths.item, queries: domainQueries, view: view('DomainSummaryPage') }),
  page({ path: paths.setup, queries: domainQueries, view: view('DomainSetupPage') }),
  page({ path: paths.live, search: LIVE, queries: domainQueries, view: view('DomainLivePage') }),
  page({ path: paths.hostnames, queries: domainQueries, view: view('DomainHostnamesPage') }),
  page({ path: paths.vendors, queries: domainQueries, view: view('DomainVendorsPage') }),
  page({ path: paths.sampling, queries: domainQueries, view: view('DomainSamplingPage') }),
  page({ path: paths.settings, queries: domainQueries, view: view('DomainSettingsPage') }),
] as const
