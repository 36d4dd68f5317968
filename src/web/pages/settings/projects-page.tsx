import { Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listProjectsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { createProject, deleteProject, updateProject } from '#client/sdk.gen'
import type { Project } from '#client/types.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { invalidate, sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { ManagedMark } from '../../components/managed-by.tsx'
import { Num } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import type { PagedQuery } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/projects`: groups of domains. */
export function ProjectsPage() {
  const query = useInfiniteQuery(listProjectsInfiniteOptions({ query: { limit: PAGE_SIZE } }))
  const may = useHasRole('admin')
  const [edited, edit] = useState<Project | 'new' | null>(null)
  const [leaving, remove] = useState<Project | null>(null)
  const t = messages.settings.projects
  const refresh = () => invalidate('listProjects')
  const act = async ({ id, name }: Project) => {
    await deleteProject({ path: { id } })
    await refresh()
    notices.say(t.deleted(name))
  }
  return (
    <SettingsLayout name="projects" acts={may && <Button onClick={() => edit('new')}>{t.create}</Button>}>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.projects.length === 0} empty={<Text>{t.none}</Text>}>
        {({ pages }) => (
          <ProjectTable
            projects={pages.flatMap(({ projects }) => projects)}
            pages={query}
            edit={edit}
            remove={remove}
          />
        )}
      </QueryState>
      <Modal
        opened={edited !== null}
        onClose={() => edit(null)}
        title={edited === 'new' ? t.create : t.editTitle}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {edited && (
          <ProjectForm project={edited === 'new' ? null : edited} close={() => edit(null)} refresh={refresh} />
        )}
      </Modal>
      <ConfirmDialog
        close={() => remove(null)}
        confirmation={
          leaving && {
            title: t.deleteNamed(leaving.name),
            sentence: t.deleted(leaving.name),
            button: t.deleteNamed(leaving.name),
            action: () => act(leaving),
          }
        }
      />
    </SettingsLayout>
  )
}

interface ProjectTableProps {
  projects: readonly Project[]
  pages: PagedQuery
  edit(project: Project): void
  remove(project: Project): void
}

function ProjectTable({ projects, pages, edit, remove }: ProjectTableProps) {
  const may = useHasRole('admin')
  const t = messages.settings.projects
  return (
    <SimpleTable
      name={messages.settings.pages.projects}
      rows={projects}
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
        { head: t.domains, isNumber: true, cell: ({ domainIds }) => <Num value={domainIds.length} /> },
        { head: messages.settings.fields.created, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (project) =>
            may && (
              <Group gap="sm" justify="flex-end">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.editNamed(project.name)}
                  onClick={() => edit(project)}
                >
                  {t.edit}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.deleteNamed(project.name)}
                  onClick={() => remove(project)}
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

interface ProjectFormProps {
  project: Project | null
  close(): void
  refresh(): Promise<void>
}

function ProjectForm({ project, close, refresh }: ProjectFormProps) {
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.settings.projects
  const saved = { name: project?.name ?? '', domainIds: project?.domainIds ?? [] }
  const isHere = useIsMounted()
  const { field, sending } = useFormFields(saved, async (body) => {
    if (project) await updateProject({ path: { id: project.id }, body })
    else await createProject({ body })
    await refresh()
    notices.say(project ? t.saved(body.name) : t.created(body.name))
    if (isHere()) close()
  })
  return (
    <Form submission={sending} button={messages.settings.save}>
      <Stack gap="md">
        <TextInput label={messages.settings.fields.name} {...field('name')} required maxLength={200} data-autofocus />
        <MultiSelect
          label={t.domains}
          {...field('domainIds')}
          data={(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          searchable
        />
      </Stack>
    </Form>
  )
}
