import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { CoveredPeriod } from '../../components/covered-period.tsx'
import type { Filter } from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'
import type { Period } from '../../url-state/period.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import classes from './explore.module.css'
import { EXPLORE } from './queries.ts'
import { useDomains, useOrdersDomain } from './use-domains.ts'

type PageName = keyof typeof messages.explore.pages

const { session: _, ...TABS } = PAGE_PATHS.explore
const TAB_NAMES = Object.keys(TABS) as PageName[]

interface ExploreHeaderProps {
  name: PageName
  /** The period of the page's data; absent if the page names it elsewhere. */
  period?: Period
  acts?: ReactNode
  /** Filters of the page, including the domain; default: the domain alone. */
  filters?: ReactNode
  children?: ReactNode
}

/** The head of an Explore page: title, actions (`acts`), links to the other pages, filters and the period. */
export function ExploreHeader({ name, period, acts, filters, children }: ExploreHeaderProps) {
  const [{ domainId }] = useSearchParams(EXPLORE)
  return (
    <>
      <PageHeader title={messages.explore.pages[name]}>{acts}</PageHeader>
      <TabLinks
        name={messages.explore.nav}
        links={TAB_NAMES.map((one) => ({
          key: one,
          label: messages.explore.pages[one],
          isHere: one === name,
          // The selected domain carries over to the other pages.
          link: { to: TABS[one], search: (domainId ? { domainId } : {}) as never },
        }))}
      />
      {filters ?? (
        <div className={classes.filters}>
          {children}
          {name === 'orders' ? <OrdersDomainField /> : <DomainField />}
        </div>
      )}
      {period && <CoveredPeriod period={period} />}
    </>
  )
}

/** The filter by domain, for pages with other filters. */
export function useDomainFilter(): Filter<'domainId'> {
  const { data } = useDomains()
  const { domain, allDomains } = messages.explore
  const options = (data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return {
    is: 'one',
    name: 'domainId',
    label: domain,
    options: [{ value: '', label: allDomains }, ...options],
    isData: true,
  }
}

function DomainField() {
  const [{ domainId }] = useSearchParams(EXPLORE)
  return (
    <DomainChoice value={domainId}>
      <option value="">{messages.explore.allDomains}</option>
    </DomainChoice>
  )
}

/** The domain field of the Orders page. Exactly one domain is always selected. */
const OrdersDomainField = () => <DomainChoice value={useOrdersDomain()} />

function DomainChoice({ value, children }: { value: string; children?: ReactNode }) {
  const [, set] = useSearchParams(EXPLORE)
  const { data } = useDomains()
  return (
    <NativeSelect
      label={messages.explore.domain}
      value={value}
      onChange={({ currentTarget }) => set({ domainId: currentTarget.value })}
    >
      {children}
      {(data?.domains ?? []).map(({ id, name }) => (
        <option key={id} value={id} translate="no">
          {name}
        </option>
      ))}
    </NativeSelect>
  )
}

/** Message that there are no events, with a button for a longer time range. */
export function NoEvents({ sentence = messages.explore.noEvents }: { sentence?: string }) {
  const [{ range, from, to }, setShared] = useSharedParams()
  const isLongest = range === '30d' && from === null && to === null
  return (
    <Stack gap="sm" align="flex-start">
      <Text>{sentence}</Text>
      {!isLongest && (
        <Button variant="default" onClick={() => setShared({ range: '30d', from: null, to: null })}>
          {messages.explore.show30Days}
        </Button>
      )}
    </Stack>
  )
}

/** The query parameters of an Explore page, from its URL. */
export function useExploreParams() {
  const [{ project, range, from, to }] = useSharedParams()
  const [{ domainId }] = useSearchParams(EXPLORE)
  return { project, range, from, to, domainId }
}
