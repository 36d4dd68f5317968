import { Anchor, Box, Button, Group, List, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import {
  getSnippetOptions,
  listRejectionsOptions,
  listSilentLibrariesOptions,
  searchEventsOptions,
  watchDomainOptions,
} from '#client/@tanstack/react-query.gen'
import type { Domain, SetupGuide } from '#client/types.gen'
import { useHasRole } from '../../../api/whoami.ts'
import { CodeField } from '../../../components/code-field.tsx'
import { Code, Data } from '../../../components/data-text.tsx'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { CaptureForm } from './capture-form.tsx'
import { DomainLayout } from './domain-layout.tsx'
import { isApp, isWeb } from './domain-platform.ts'

/** Polling interval until the first event arrives. */
const POLL_INTERVAL_MS = 1000
/** Delay before troubleshooting hints are shown. */
const HINT_DELAY_MS = 20_000

/** `/domains/{id}/setup`: installation instructions for the domain's platform, and the status of the first event. */
export function DomainSetupPage() {
  return <DomainLayout part="setup">{(domain) => <SetUp domain={domain} />}</DomainLayout>
}

function SetUp({ domain }: { domain: Domain }) {
  const may = useHasRole('member')
  const query = useQuery({ ...getSnippetOptions({ path: { id: domain.id } }), enabled: may })
  const t = messages.domains.setup
  return (
    <Stack gap="lg" maw={840}>
      <Paper>
        {may ? (
          <QueryState query={query}>
            {({ guide }) => <Guide key={domain.id} domain={domain} guide={guide} />}
          </QueryState>
        ) : (
          <RoleNotice needs="member" what={t.restrictedAction} />
        )}
      </Paper>
      {/* Rendered after the code has loaded, because the code would push it down. */}
      {!(may && query.isPending) && (
        <Paper>
          <EventStatus domain={domain} />
        </Paper>
      )}
      <SilentLibraries domain={domain} />
    </Stack>
  )
}

/** Code, steps and sampling for the domain's platform. */
function Guide({ domain, guide: { files, steps, sampling } }: { domain: Domain; guide: SetupGuide }) {
  const [chosen, choose] = useState(files[0]?.name)
  const file = files.find(({ name }) => name === chosen) ?? files[0]
  const t = messages.domains.setup
  return (
    <Stack gap="lg">
      <section>
        <Title order={2} mb="sm">
          {t.install(messages.domains.systems[domain.system])}
        </Title>
        <List type="ordered" spacing="xs">
          {steps.map((step) => (
            <List.Item key={step}>
              <Data>{step}</Data>
            </List.Item>
          ))}
        </List>
      </section>
      {file && (
        <section>
          <Title order={2} mb="sm">
            {t.code}
          </Title>
          {files.length > 1 && (
            <SegmentedControl
              aria-label={t.files}
              value={file.name}
              onChange={choose}
              data={files.map(({ name, label }) => ({ value: name, label: <Data>{label}</Data> }))}
            />
          )}
          <Box mt="sm">
            <CodeField label={<Data>{file.name}</Data>} code={file.code} copy={t.copyCode} copied={t.copied} />
          </Box>
        </section>
      )}
      <section>
        <Title order={2} mb="sm">
          {t.sampling}
        </Title>
        <Text mb="md">
          <Data>{sampling}</Data>
        </Text>
        {isApp(domain) && <CaptureForm domain={domain} />}
      </section>
    </Stack>
  )
}

/** Shows that events are being received, or waits for the first one. */
function EventStatus({ domain }: { domain: Domain }) {
  const [hadEvents] = useState(Boolean(domain.lastEventAt))
  const t = messages.domains.setup
  if (!hadEvents) return <FirstEvent domain={domain} />
  return (
    <Stack gap="md">
      <Title order={2}>{t.receiving}</Title>
      <Text component="div">
        {messages.domains.lastEvent} <TimeAgo at={domain.lastEventAt} />
      </Text>
      <NextSteps domain={domain} />
    </Stack>
  )
}

/** Vendors whose library loads on the pages but whose events are not captured; renders nothing when there are none. */
function SilentLibraries({ domain }: { domain: Domain }) {
  const { data } = useQuery(listSilentLibrariesOptions({ path: { id: domain.id } }))
  const t = messages.domains.setup.silent
  if (!data?.libraries.length) return null
  return (
    <Paper>
      <Stack gap="sm">
        <Title order={2}>{t.title}</Title>
        <Text>{t.intro}</Text>
        <SimpleTable
          name={t.title}
          rows={data.libraries}
          keyOf={({ vendor }) => vendor}
          columns={[
            { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
            { head: t.loads, isNumber: true, cell: ({ loads }) => <Num value={loads} /> },
            { head: t.lastLoad, cell: ({ lastAt }) => <TimeAgo at={lastAt} /> },
          ]}
        />
        <Text c="dimmed">{t.reasons}</Text>
      </Stack>
    </Paper>
  )
}

function NextSteps({ domain }: { domain: Domain }) {
  const may = useHasRole('member')
  const t = messages.domains.setup
  return (
    <Group gap="sm">
      {may && (
        <Button component={Link} to="/alerts/new" search={{ domainId: domain.id } as never}>
          {t.createAlert}
        </Button>
      )}
      <Button variant="default" component={Link} to={`/domains/${domain.id}/live`}>
        {t.watch}
      </Button>
    </Group>
  )
}

/** Waits for the first event, then shows it. */
function FirstEvent({ domain }: { domain: Domain }) {
  const t = messages.domains.setup
  const { data } = useQuery({
    ...watchDomainOptions({ path: { id: domain.id }, query: { limit: 5 } }),
    refetchInterval: ({ state }) => (state.data?.events.length || domain.lastEventAt ? false : POLL_INTERVAL_MS),
  })
  const live = data?.events.at(-1)?.event
  // The first event may have arrived before the page began to watch.
  const { data: stored } = useQuery({
    ...searchEventsOptions({ query: { domainId: domain.id, limit: 1 } }),
    enabled: !live && Boolean(domain.lastEventAt),
  })
  const first = live ?? stored?.events[0]
  // The URL is user input, so only HTTP URLs become links.
  const url = isWeb(domain) ? domain.monitoredUrls.find((one) => /^https?:\/\//i.test(one)) : undefined
  return (
    <Stack gap="md">
      <div role="status" aria-live="polite">
        {first ? (
          <Title order={2}>
            <Data>{t.firstEvent(String(first.event), first.host as string | null)}</Data>
          </Title>
        ) : (
          <Title order={2}>{t.waiting}</Title>
        )}
      </div>
      {first ? (
        <NextSteps domain={domain} />
      ) : (
        <>
          {url && (
            <Text>
              {t.open}{' '}
              <Anchor href={url} target="_blank" rel="noreferrer">
                <Data>{url}</Data>
              </Anchor>
            </Text>
          )}
          <DelayHints domain={domain} />
        </>
      )}
    </Stack>
  )
}

/** Hints shown when no event has been received for a while. */
function DelayHints({ domain }: { domain: Domain }) {
  const [isLate, late] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => late(true), HINT_DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  const { data } = useQuery({
    ...listRejectionsOptions({ query: { domainId: domain.id, limit: 5 } }),
    enabled: isLate,
  })
  const t = messages.domains.setup
  if (!isLate) return null
  const rejections = data?.rejections ?? []
  return (
    <Stack gap="sm">
      <Text fw={600}>{t.troubleshooting}</Text>
      {rejections.length > 0 ? (
        <>
          <Text>{t.rejected}</Text>
          <ul>
            {rejections.map(({ reason, sample }) => (
              <li key={`${reason} ${sample}`}>
                <Data>{reason}</Data> <Code>{sample}</Code>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <Text>{isWeb(domain) ? t.noScriptRequests : t.noRequests}</Text>
          {isWeb(domain) ? (
            <>
              <Text>{t.policy}</Text>
              <Code>{`connect-src ${domain.routing.collectEndpoint}; script-src https://${domain.routing.cdnHost}`}</Code>
            </>
          ) : (
            <Code>{domain.routing.collectEndpoint}</Code>
          )}
        </>
      )}
    </Stack>
  )
}
