import { Anchor, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { getSnippetOptions, listRejectionsOptions, watchDomainOptions } from '#client/@tanstack/react-query.gen'
import type { Domain } from '#client/types.gen'
import { useMay } from '../../../api/who.ts'
import { Ago } from '../../../parts/ago.tsx'
import { copy } from '../../../parts/copy.ts'
import { Code, Data } from '../../../parts/data.tsx'
import { MayLine } from '../../../parts/may.tsx'
import { QueryState } from '../../../parts/query-state.tsx'
import { notices } from '../../../shell/notices.ts'
import { words } from '../../../words.ts'
import { DomainFrame } from './domain-frame.tsx'

/** Looked at so often while nothing has come; the set-up is the one page that waits for a first thing. */
const LOOK_EVERY_MS = 1000
/** After which the page says what it can see. */
const PATIENCE_MS = 20_000

/** `/domains/{id}/setup`: the code to paste, and whether the first event came. */
export function DomainSetupPage() {
  return <DomainFrame part="setup">{(domain) => <SetUp domain={domain} />}</DomainFrame>
}

function SetUp({ domain }: { domain: Domain }) {
  const may = useMay('member')
  const query = useQuery({ ...getSnippetOptions({ path: { id: domain.id } }), enabled: may })
  const said = words.domains.setup
  return (
    <Stack gap="lg" maw={840}>
      <Paper>
        {may ? (
          <QueryState query={query}>
            {({ head, template }) => (
              <Stack gap="lg">
                <CodeField label={said.code} hint={said.codeHint} button={said.copyCode} text={head} />
                <details>
                  <summary>{said.template}</summary>
                  <CodeField
                    label={said.template}
                    hint={said.templateHint}
                    button={said.copyTemplate}
                    text={template}
                  />
                </details>
              </Stack>
            )}
          </QueryState>
        ) : (
          <MayLine needs="member" what={said.what} />
        )}
      </Paper>
      {/* The code above is long: nothing stands below it that it would push away. */}
      {!(may && query.isPending) && (
        <Paper>
          <Arrival domain={domain} />
        </Paper>
      )}
    </Stack>
  )
}

interface CodeFieldProps {
  label: string
  hint: string
  button: string
  text: string
}

function CodeField({ label, hint, button, text }: CodeFieldProps) {
  return (
    <Stack gap="sm" mt="sm">
      <Textarea
        label={label}
        description={hint}
        value={text}
        readOnly
        autosize
        maxRows={10}
        translate="no"
        spellCheck={false}
        ff="monospace"
        onFocus={({ target }) => target.select()}
      />
      <Button
        variant="default"
        w="fit-content"
        onClick={() => void copy(text).then(() => notices.say(words.domains.setup.copied))}
      >
        {button}
      </Button>
    </Stack>
  )
}

/** Whether events come: those of a domain that had some when the page was opened, or the first one as it comes. */
function Arrival({ domain }: { domain: Domain }) {
  const [hadEvents] = useState(Boolean(domain.lastEventAt))
  const said = words.domains.setup
  if (!hadEvents) return <FirstEvent domain={domain} />
  return (
    <Stack gap="md">
      <Title order={2}>{said.arriving}</Title>
      <Text component="div">
        {words.domains.lastEvent} <Ago at={domain.lastEventAt} />
      </Text>
      <NextSteps domain={domain} />
    </Stack>
  )
}

function NextSteps({ domain }: { domain: Domain }) {
  const may = useMay('member')
  const said = words.domains.setup
  return (
    <Group gap="sm">
      {may && (
        <Button component={Link} to="/alerts/new" search={{ domainId: domain.id } as never}>
          {said.firstAlert}
        </Button>
      )}
      <Button variant="default" component={Link} to={`/domains/${domain.id}/live`}>
        {said.watch}
      </Button>
    </Group>
  )
}

/** Waits for the first event, and turns to it by itself. */
function FirstEvent({ domain }: { domain: Domain }) {
  const said = words.domains.setup
  const { data } = useQuery({
    ...watchDomainOptions({ path: { id: domain.id }, query: { limit: 5 } }),
    refetchInterval: ({ state }) => (state.data?.events.length ? false : LOOK_EVERY_MS),
  })
  const first = data?.events.at(-1)?.event
  // What is typed as an address may be anything; only pages of the web are opened.
  const url = domain.monitoredUrls.find((one) => /^https?:\/\//i.test(one))
  return (
    <Stack gap="md">
      <div role="status" aria-live="polite">
        {first ? (
          <Title order={2}>
            <Data>{said.first(String(first.event), first.host as string | null)}</Data>
          </Title>
        ) : (
          <Title order={2}>{said.waiting}</Title>
        )}
      </div>
      {first ? (
        <NextSteps domain={domain} />
      ) : (
        <>
          {url && (
            <Text>
              {said.open}{' '}
              <Anchor href={url} target="_blank" rel="noreferrer">
                <Data>{url}</Data>
              </Anchor>
            </Text>
          )}
          <AfterAWhile domain={domain} />
        </>
      )}
    </Stack>
  )
}

/** What can be seen from here, when nothing came for a while. */
function AfterAWhile({ domain }: { domain: Domain }) {
  const [isLate, late] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => late(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  const { data } = useQuery({
    ...listRejectionsOptions({ query: { domainId: domain.id, limit: 5 } }),
    enabled: isLate,
  })
  const said = words.domains.setup
  if (!isLate) return null
  const rejections = data?.rejections ?? []
  return (
    <Stack gap="sm">
      <Text fw={600}>{said.seen}</Text>
      {rejections.length > 0 ? (
        <>
          <Text>{said.refused}</Text>
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
          <Text>{said.nothing}</Text>
          <Text>{said.policy}</Text>
          <Code>{`connect-src ${domain.routing.collectEndpoint}; script-src https://${domain.routing.cdnHost}`}</Code>
        </>
      )}
    </Stack>
  )
}
