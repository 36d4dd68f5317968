import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import type { Integration } from '#client/types.gen'
import { sharedQueries } from '../../api/queries.ts'

import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { ManagedMark } from '../../components/managed-by.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Paginated } from '../../components/paginated.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { DeliveriesLink, INTEGRATION_MARKS, TestButton, titleOf } from './integration-parts.tsx'
import classes from './integrations.module.css'
import { integrationsQuery } from './queries.ts'

/** `/integrations`: connected and available integrations. */
export function IntegrationsPage() {
  const query = useInfiniteQuery(integrationsQuery())
  const may = useHasRole('admin')
  const t = messages.integrations
  const connect = may && (
    <Button component={Link} to="/integrations/new">
      {t.connect}
    </Button>
  )
  return (
    <>
      <PageHeader title={messages.shell.pages.integrations}>{connect}</PageHeader>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <Stack gap="xl">
        <section>
          <Title order={2} mb="md">
            {t.connected}
          </Title>
          <QueryState
            query={query}
            isEmpty={({ pages }) => pages[0]?.integrations.length === 0}
            empty={<Text maw="72ch">{t.none}</Text>}
          >
            {({ pages }) => (
              <Paginated rows={pages.flatMap(({ integrations }) => integrations)} pages={query}>
                {(integrations) => <Connected integrations={integrations} />}
              </Paginated>
            )}
          </QueryState>
        </section>
        {may && <Available />}
      </Stack>
    </>
  )
}

function Connected({ integrations }: { integrations: readonly Integration[] }) {
  const may = useHasRole('admin')
  const t = messages.integrations
  return (
    <ul className={classes.list} aria-label={t.connected}>
      {integrations.map(({ id, label, provider, status, createdAt, managedBy }) => (
        <li key={id}>
          <Paper>
            <Group justify="space-between" gap="md">
              <div>
                <Link to="/integrations/$id" params={{ id }} className={classes.link}>
                  <Data>{label}</Data>
                </Link>
                <div className="under">
                  {titleOf(provider)} · <TimeAgo at={createdAt} />
                </div>
                <ManagedMark managedBy={managedBy} />
              </div>
              <Group gap="md">
                <StatusMark status={INTEGRATION_MARKS[status]} word={t.statuses[status]} />
                <DeliveriesLink id={id} provider={provider} label={label} />
                {may && <TestButton id={id} label={label} />}
              </Group>
            </Group>
          </Paper>
        </li>
      ))}
    </ul>
  )
}

/** Providers for which the server has a form. */
function Available() {
  const query = useQuery(sharedQueries.forms())
  const t = messages.integrations
  return (
    <section>
      <Title order={2} mb="md">
        {t.available}
      </Title>
      <QueryState query={query}>
        {({ integrations }) => (
          <ul className={classes.gallery}>
            {integrations.map(({ kind, title, help }) => (
              <li key={kind}>
                <Paper h="100%">
                  <Text fw={600}>
                    <Data>{title}</Data>
                  </Text>
                  <Text c="dimmed" fz="sm" mb="md">
                    <Data>{help}</Data>
                  </Text>
                  <Button
                    component={Link}
                    to={`/integrations/new?provider=${kind}`}
                    variant="default"
                    aria-description={title}
                  >
                    {t.connect}
                  </Button>
                </Paper>
              </li>
            ))}
          </ul>
        )}
      </QueryState>
    </section>
  )
}
