import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SuggestionList } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Card } from '../../components/card.tsx'
import { Data, Sentence } from '../../components/data-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SamplingNote } from '../../components/sampling-note.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { useSharedParams } from '../../url-state/use-search-params.ts'
import { suggestionsQuery, toggleAlert } from './queries.ts'

type Suggestion = SuggestionList['suggestions'][number]
type Idle = SuggestionList['idleAlerts'][number]

const SHOWN_AT_FIRST = 5

/** Rules suggested from traffic, and alerts that match no events. */
export function SuggestedAlerts() {
  const [{ project }] = useSharedParams()
  const answer = useQuery(suggestionsQuery(project))
  const idle = answer.data?.idleAlerts ?? []
  return (
    <Stack gap="lg" mt="lg">
      {idle.length > 0 && <IdleAlerts alerts={idle} />}
      <Card title={messages.alerts.suggested}>
        <Text c="dimmed" mb="md" maw="72ch">
          {messages.alerts.suggestedHint}
        </Text>
        <SamplingNote sampling={answer.data?.sampling ?? null} />
        <QueryState
          query={answer}
          isEmpty={({ suggestions }) => suggestions.length === 0}
          empty={<Text>{messages.alerts.noneSuggested}</Text>}
        >
          {({ suggestions }) => <Rules suggestions={suggestions} />}
        </QueryState>
      </Card>
    </Stack>
  )
}

function Rules({ suggestions }: { suggestions: readonly Suggestion[] }) {
  const [isAll, showAll] = useState(false)
  const more = suggestions.length - SHOWN_AT_FIRST
  return (
    <Stack gap="md">
      {suggestions.slice(0, isAll ? undefined : SHOWN_AT_FIRST).map((suggestion) => (
        <Rule key={`${suggestion.kind} ${suggestion.rule.name}`} suggestion={suggestion} />
      ))}
      {more > 0 && !isAll && (
        <Button variant="subtle" w="fit-content" onClick={() => showAll(true)}>
          {messages.alerts.moreSuggested(more)}
        </Button>
      )}
    </Stack>
  )
}

function Rule({ suggestion: { rule, reason, backtest } }: { suggestion: Suggestion }) {
  const may = useHasRole('member')
  const t = messages.alerts
  return (
    <Group justify="space-between" gap="sm" wrap="wrap">
      <div style={{ flex: '1 1 280px', minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text fw={600}>
          <Data>{rule.name}</Data>
        </Text>
        <Text fz="sm" c="dimmed">
          <Sentence>{reason}</Sentence>
        </Text>
        <Text fz="sm">{t.wouldFire(backtest.fired, backtest.days)}</Text>
      </div>
      {may && (
        <Button
          variant="default"
          component={Link}
          to="/alerts/new"
          state={{ rule } as never}
          aria-label={t.applyNamedRule(rule.name)}
        >
          {t.applyRule}
        </Button>
      )}
    </Group>
  )
}

function IdleAlerts({ alerts }: { alerts: readonly Idle[] }) {
  const may = useHasRole('member')
  const t = messages.alerts
  return (
    <Card title={t.idle}>
      <Text c="dimmed" mb="md" maw="72ch">
        {t.idleHint}
      </Text>
      <SimpleTable
        name={t.idle}
        rows={alerts}
        keyOf={({ alertId }) => alertId}
        columns={[
          {
            head: t.name,
            cell: ({ alertId, name }) => (
              <Anchor component={Link} to={`/alerts/${alertId}`} fz="sm">
                <Data>{name}</Data>
              </Anchor>
            ),
          },
          {
            head: t.lastEvent,
            cell: ({ lastEventAt }) => <TimeAgo at={lastEventAt} missing={messages.displayNames.never} />,
          },
          ...(may ? [{ head: t.disable, isHeadHidden: true, cell: (alert: Idle) => <SwitchOff alert={alert} /> }] : []),
        ]}
      />
    </Card>
  )
}

function SwitchOff({ alert: { alertId, name } }: { alert: Idle }) {
  const t = messages.alerts
  const switchOff = async () => {
    await toggleAlert({ id: alertId, name }, false)
    await invalidate('listSuggestions')
  }
  return (
    <Button variant="default" size="compact-sm" aria-label={t.disableNamed(name)} onClick={() => void switchOff()}>
      {t.disable}
    </Button>
  )
}
