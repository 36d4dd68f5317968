import {
  Anchor,
  Button,
  FileInput,
  Group,
  Modal,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  getOrganizationOptions,
  listCalendarsInfiniteOptions,
  listCountriesOptions,
} from '#client/@tanstack/react-query.gen'
import { createCalendar, deleteCalendar } from '#client/sdk.gen'
import type { Calendar } from '#client/types.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { formatIsoDay } from '../../components/format.ts'
import { ManagedMark } from '../../components/managed-by.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** Number of days in the table. */
const SHOWN_DAYS = 4

/** `/settings/calendars`: calendars of holidays. */
export function CalendarsPage() {
  const query = useInfiniteQuery(listCalendarsInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const may = useHasRole('member')
  const [isOpen, open] = useState(false)
  const [leaving, remove] = useState<Calendar | null>(null)
  const t = messages.calendars
  const refresh = () => invalidate('listCalendars')
  const act = async ({ id, name }: Calendar) => {
    await deleteCalendar({ path: { id } })
    await refresh()
    notices.say(t.deleted(name))
  }
  return (
    <SettingsLayout name="calendars" acts={may && <Button onClick={() => open(true)}>{t.create}</Button>}>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed">{t.intro}</Text>
      <TimeZoneNote />
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.calendars.length === 0} empty={<Text>{t.none}</Text>}>
        {({ pages }) => (
          <CalendarTable calendars={pages.flatMap(({ calendars }) => calendars)} pages={query} remove={remove} />
        )}
      </QueryState>
      <Modal
        opened={isOpen}
        onClose={() => open(false)}
        title={t.create}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {isOpen && <CalendarForm close={() => open(false)} refresh={refresh} />}
      </Modal>
      <ConfirmDialog
        close={() => remove(null)}
        confirmation={
          leaving && {
            title: t.deleteNamed(leaving.name),
            sentence: t.deleteSentence,
            button: t.deleteNamed(leaving.name),
            action: () => act(leaving),
          }
        }
      />
    </SettingsLayout>
  )
}

function TimeZoneNote() {
  const { data } = useQuery(getOrganizationOptions())
  const t = messages.calendars
  return (
    <Text c="dimmed" mb="md">
      {data && t.zone(data.timezone)}{' '}
      <Anchor component={Link} to="/settings/organization" underline="always">
        {t.changeZone}
      </Anchor>
    </Text>
  )
}

interface CalendarTableProps {
  calendars: readonly Calendar[]
  pages: PagedQuery
  remove(calendar: Calendar): void
}

function CalendarTable({ calendars, pages, remove }: CalendarTableProps) {
  const may = useHasRole('member')
  const t = messages.calendars
  return (
    <SimpleTable
      name={messages.settings.pages.calendars}
      rows={calendars}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        {
          head: messages.settings.fields.name,
          cell: ({ name, managedBy }) => (
            <>
              <Data>{name}</Data> <ManagedMark managedBy={managedBy} />
            </>
          ),
        },
        { head: t.source, cell: ({ country }) => (country === null ? t.uploaded : <Data>{country}</Data>) },
        { head: t.next, cell: ({ nextDays }) => <NextDays days={nextDays.slice(0, SHOWN_DAYS)} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (calendar) =>
            may && (
              <Group gap="sm" justify="flex-end">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.deleteNamed(calendar.name)}
                  onClick={() => remove(calendar)}
                >
                  {messages.settings.delete}
                </Button>
              </Group>
            ),
        },
      ]}
    />
  )
}

function NextDays({ days }: { days: Calendar['nextDays'] }) {
  if (days.length === 0) return messages.calendars.noNext
  return (
    <Stack gap={2}>
      {days.map(({ day, name }) => (
        <span key={day}>
          <span className="figure">{formatIsoDay(day)}</span> <Data>{name}</Data>
        </span>
      ))}
    </Stack>
  )
}

interface CalendarFormProps {
  close(): void
  refresh(): Promise<void>
}

function CalendarForm({ close, refresh }: CalendarFormProps) {
  const { data } = useQuery(listCountriesOptions())
  const t = messages.calendars
  const isHere = useIsMounted()
  const [source, choose] = useState<'country' | 'file'>('country')
  const [file, setFile] = useState<File | null>(null)
  const initial = { name: '', country: null as string | null, ics: '' }
  const { field, sending } = useFormFields(initial, async ({ name, country }) => {
    const body = source === 'country' ? { name, country: country ?? '' } : { name, ics: (await file?.text()) ?? '' }
    await createCalendar({ body })
    await refresh()
    notices.say(t.created(name))
    if (isHere()) close()
  })
  return (
    <Form submission={sending} button={messages.settings.save}>
      <Stack gap="md">
        <TextInput label={messages.settings.fields.name} {...field('name')} required maxLength={100} data-autofocus />
        <SegmentedControl
          aria-label={t.source}
          value={source}
          onChange={(chosen) => choose(chosen as typeof source)}
          data={(['country', 'file'] as const).map((value) => ({ value, label: t.sources[value] }))}
        />
        {source === 'country' ? (
          <Select
            label={t.country}
            description={t.countryHint}
            {...field('country')}
            data={(data?.countries ?? []).map(({ code, name }) => ({ value: code, label: name }))}
            limit={100}
            required
            searchable
          />
        ) : (
          <FileInput
            placeholder={messages.components.chooseFile}
            label={t.file}
            description={t.fileHint}
            accept=".ics,text/calendar"
            value={file}
            onChange={setFile}
            error={sending.errorOf('ics')}
            required
          />
        )}
      </Stack>
    </Form>
  )
}
