import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'
import type { DeliveryDetail } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Breadcrumb } from '../../components/breadcrumb.tsx'
import { ChannelTarget } from '../../components/channel-target.tsx'
import { Code, Data, Dot } from '../../components/data-text.tsx'
import { formatDuration, formatNumber } from '../../components/format.ts'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PathLink } from '../../components/path-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { type StatusIcon, StatusMark } from '../../components/status-mark.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import classes from './deliveries.module.css'
import { DELIVERY_MARKS, NextAttempt, Replay, typeOf } from './delivery-parts.tsx'
import { channelsQuery, deliveryQuery } from './queries.ts'

type Attempt = DeliveryDetail['log'][number]
type SentRequest = NonNullable<Attempt['requests']>[number]

const OUTCOME_MARKS: Record<Attempt['outcome'], StatusIcon> = {
  delivered: 'resolved',
  retry: 'learning',
  broken: 'failed',
  stopped: 'muted',
}

/** `/deliveries/{id}`: a notification, and its attempts with requests and responses. */
export function DeliveryPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(deliveryQuery(id))
  const t = messages.deliveries
  const gone = (
    <NotFoundNotice sentence={t.notFound}>
      <Link to="/deliveries">{t.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.deliveries} notFound={gone}>
      {(delivery) => <Detail delivery={delivery} />}
    </QueryState>
  )
}

function Detail({ delivery }: { delivery: DeliveryDetail }) {
  const { alertName, log, status, lastError } = delivery
  const mayReplay = useHasRole('member')
  const t = messages.deliveries
  const title = alertName ? `${typeOf(delivery)}${t.separator} ${alertName}` : typeOf(delivery)
  const breadcrumb = <Breadcrumb to="/deliveries">{messages.shell.pages.deliveries}</Breadcrumb>
  return (
    <>
      <PageHeader title={title} isData above={breadcrumb}>
        <StatusMark status={DELIVERY_MARKS[status]} word={t.statuses[status]} />
        {mayReplay && <Replay delivery={delivery} />}
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Stack gap="lg" maw={900}>
        {lastError !== null && status !== 'delivered' && (
          <Text>
            <Data>{lastError}</Data>
          </Text>
        )}
        <Facts delivery={delivery} />
        <section>
          <Title order={2} mb="md">
            {t.attempts}
          </Title>
          {mayReplay && <RoleNotice needs="admin" what={t.restrictedRequests} />}
          {log.length === 0 && <Text>{t.noAttempts}</Text>}
          <ol className={classes.attempts} reversed aria-label={t.attempts}>
            {log.toReversed().map((attempt, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: attempts can begin at the same time
              <li key={`${attempt.at} ${log.length - index}`}>
                <AttemptCard attempt={attempt} isLatest={index === 0} />
              </li>
            ))}
          </ol>
        </section>
      </Stack>
    </>
  )
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const { alertId, alertName, attempts, channel, createdAt, deliveredAt, issueId, status } = delivery
  const seesTarget = channel.target !== ''
  const t = messages.deliveries
  return (
    <Paper component="section" aria-label={messages.issue.details}>
      <dl className="facts">
        <Fact name={t.channel}>
          {t.channels[channel.type]}
          {seesTarget && (
            <>
              <Dot />
              <ChannelTarget target={channel.target} />
              <OthersOfChannel channel={channel} />
            </>
          )}
        </Fact>
        {issueId !== null && (
          <Fact name={t.issue}>
            <PathLink path={`/issues/${issueId}`}>{t.openIssue}</PathLink>
          </Fact>
        )}
        {alertId?.startsWith('alr_') && (
          <Fact name={t.alert}>
            <PathLink path={`/alerts/${alertId}`}>
              <Data>{alertName ?? alertId}</Data>
            </PathLink>
          </Fact>
        )}
        <Fact name={t.created}>
          <DateTime at={createdAt} />
        </Fact>
        {deliveredAt !== null && (
          <Fact name={t.statuses.delivered}>
            <DateTime at={deliveredAt} />
          </Fact>
        )}
        <Fact name={t.attempts}>
          <Num value={attempts} />
        </Fact>
        {status === 'pending' && (
          <Fact name={t.status}>
            <NextAttempt delivery={delivery} isQuiet={false} />
          </Fact>
        )}
        <Fact name={t.id}>
          <Code>{delivery.id}</Code>
        </Fact>
      </dl>
    </Paper>
  )
}

const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

/** Link to all deliveries of the channel. */
function OthersOfChannel({ channel: { type, target } }: Pick<DeliveryDetail, 'channel'>) {
  const { data } = useQuery(channelsQuery())
  const id = data?.channels.find((one) => one.type === type && one.target === target)?.id
  if (id === undefined) return null
  return (
    <>
      <Dot />
      <Anchor component={Link} underline="always" to="/deliveries" search={{ channel: [id] } as never}>
        {messages.deliveries.allOfChannel}
      </Anchor>
    </>
  )
}

function AttemptCard({ attempt, isLatest }: { attempt: Attempt; isLatest: boolean }) {
  const { at, durMs, outcome, reason, requests = [], answer } = attempt
  const t = messages.deliveries
  const id = useId()
  return (
    <Paper component="article" aria-labelledby={id}>
      <Group gap="md">
        <Title order={3} id={id} fz="sm">
          <StatusMark status={OUTCOME_MARKS[outcome]} word={t.outcomes[outcome]} />
        </Title>
        <DateTime at={at} />
        {outcome !== 'stopped' && <Text c="dimmed">{t.took(formatDuration(durMs))}</Text>}
      </Group>
      {reason !== null && (
        <Text mt="xs">
          <Data>{reason}</Data>
        </Text>
      )}
      {requests.length === 0 && answer !== null && <Block name={t.response} text={answer} />}
      {requests.map((request, index) => (
        <Request
          // biome-ignore lint/suspicious/noArrayIndexKey: requests are identified only by their order
          key={index}
          request={request}
          isOpen={isLatest && index === requests.length - 1}
        />
      ))}
    </Paper>
  )
}

function Request({ request, isOpen }: { request: SentRequest; isOpen: boolean }) {
  const { method, target, headers, body, bodyLength, status, response, durMs } = request
  const t = messages.deliveries
  const names = Object.keys(headers)
  const isCut = body.length < bodyLength && body !== MASK
  return (
    <details className={classes.request} open={isOpen}>
      <summary>
        <Code>
          {method} {target}
        </Code>{' '}
        <Text span c="dimmed" fz="sm">
          {status === null ? t.noResponse : t.responded(status)} {t.took(formatDuration(durMs))}
        </Text>
      </summary>
      {names.length > 0 && (
        <Block name={t.headers} text={names.map((name) => `${name}: ${headers[name]}`).join('\n')} />
      )}
      {body !== '' && (
        <Block
          name={isCut ? t.bodyStart(formatNumber(body.length), formatNumber(bodyLength)) : t.body}
          text={readable(body)}
        />
      )}
      {response !== '' && <Block name={t.response} text={readable(response)} />}
    </details>
  )
}

/** The body of a request for tokens. */
const MASK = '***'

/** JSON with indentation; other text unchanged. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function Block({ name, text }: { name: string; text: string }) {
  const id = useId()
  return (
    <>
      <Text id={id} fz="xs" c="dimmed" mt="sm">
        {name}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard requires focus */}
      <section className={classes.text} tabIndex={0} aria-labelledby={id} translate="no">
        <pre>{text}</pre>
      </section>
    </>
  )
}
