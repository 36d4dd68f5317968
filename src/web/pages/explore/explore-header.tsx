import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import { type LinkProps, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import classes from './explore.module.css'
import { EXPLORE } from './queries.ts'
import { useDomains, useOrdersDomain } from './use-domains.ts'

type PageName = keyof typeof messages.explore.pages

/** Explore pages in the order of their links. */
const PAGES: readonly { name: PageName; to: NonNullable<LinkProps['to']> }[] = [
  { name: 'dictionary', to: '/explore/dictionary' },
  { name: 'events', to: '/explore/events' },
  { name: 'journeys', to: '/explore/journeys' },
  { name: 'performance', to: '/explore/performance' },
  { name: 'execution', to: '/explore/execution' },
  { name: 'labels', to: '/explore/labels' },
  { name: 'orders', to: '/explore/orders' },
]

/** The head of an Explore page: title, links to the other pages, and filters. */
export function ExploreHeader({ name, children }: { name: PageName; children?: ReactNode }) {
  const here = useLocation({ select: ({ pathname }) => pathname })
  const [{ to: end }] = useSharedParams()
  const [{ domainId }] = useSearchParams(EXPLORE)
  return (
    <>
      <PageHeader title={messages.explore.pages[name]} />
      <TabLinks
        name={messages.explore.nav}
        links={PAGES.map((page) => ({
          key: page.name,
          label: messages.explore.pages[page.name],
          isHere: here === page.to,
          // The selected domain carries over to the other pages.
          link: { to: page.to, search: (domainId ? { domainId } : {}) as never },
        }))}
      />
      <div className={classes.filters}>
        {children}
        {name === 'orders' ? <OrdersDomainField /> : <DomainField />}
      </div>
      {end !== null && end < Date.now() && (
        <Text c="dimmed" fz="sm" mb="md">
          {messages.explore.untilNow}
        </Text>
      )}
    </>
  )
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
  const [{ project, range, from }] = useSharedParams()
  const [{ domainId }] = useSearchParams(EXPLORE)
  return { project, range, from, domainId }
}
