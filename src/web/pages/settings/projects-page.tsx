import { Button, Group, Modal, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { listDomainsOptions, listProjectsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { createProject, deleteProject, updateProject } from '#client/sdk.gen'
import type { Project } from '#client/types.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'
import { useMay } from '../../api/who.ts'
import { Ago } from '../../parts/ago.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Data } from '../../parts/data.tsx'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { useIsHere } from '../../parts/is-here.ts'
import { MayLine } from '../../parts/may.tsx'
import { Num } from '../../parts/numbers.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import type { Pages } from '../../parts/virtual-table.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { SettingsFrame } from './settings-frame.tsx'

/** `/settings/projects`: groups of domains. */
export function ProjectsPage() {
  const query = useInfiniteQuery({ ...listProjectsInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
  const may = useMay('admin')
  const queries = useQueryClient()
  const [edited, edit] = useState<Project | 'new' | null>(null)
  const [leaving, remove] = useState<Project | null>(null)
  const said = words.settings.projects
  const refresh = () => queries.invalidateQueries({ queryKey: [{ _id: 'listProjects' }] })
  const act = async ({ id, name }: Project) => {
    await deleteProject({ path: { id }, throwOnError: true })
    await refresh()
    notices.say(said.deleted(name))
  }
  return (
    <SettingsFrame name="projects" acts={may && <Button onClick={() => edit('new')}>{said.create}</Button>}>
      <MayLine needs="admin" what={said.what} />
      <Text c="dimmed" mb="md">
        {said.intro}
      </Text>
      <QueryState
        query={query}
        isEmpty={({ pages }) => pages[0]?.projects.length === 0}
        empty={<Text>{said.none}</Text>}
      >
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
        title={edited === 'new' ? said.create : said.editTitle}
        closeButtonProps={{ 'aria-label': words.shell.close }}
      >
        {edited && (
          <ProjectForm project={edited === 'new' ? null : edited} close={() => edit(null)} refresh={refresh} />
        )}
      </Modal>
      <Confirm
        close={() => remove(null)}
        asks={
          leaving && {
            title: said.remove(leaving.name),
            sentence: said.deleted(leaving.name),
            button: said.remove(leaving.name),
            act: () => act(leaving),
          }
        }
      />
    </SettingsFrame>
  )
}

interface ProjectTableProps {
  projects: readonly Project[]
  pages: Pages
  edit(project: Project): void
  remove(project: Project): void
}

function ProjectTable({ projects, pages, edit, remove }: ProjectTableProps) {
  const may = useMay('admin')
  const said = words.settings.projects
  return (
    <SimpleTable
      name={words.settings.pages.projects}
      rows={projects}
      pages={pages}
      keyOf={({ id }) => id}
      columns={[
        { head: words.settings.fields.name, cell: ({ name }) => <Data>{name}</Data> },
        { head: said.domains, isNumber: true, cell: ({ domainIds }) => <Num value={domainIds.length} /> },
        { head: words.settings.fields.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        {
          head: words.settings.actions,
          isHeadHidden: true,
          cell: (project) =>
            may && (
              <Group gap="sm" justify="flex-end">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={said.edit(project.name)}
                  onClick={() => edit(project)}
                >
                  {said.editRow}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={said.remove(project.name)}
                  onClick={() => remove(project)}
                >
                  {words.settings.delete}
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
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const said = words.settings.projects
  const saved = { name: project?.name ?? '', domainIds: project?.domainIds ?? [] }
  const isHere = useIsHere()
  const { field, sending } = useFields(saved, async (body) => {
    if (project) await updateProject({ path: { id: project.id }, body, throwOnError: true })
    else await createProject({ body, throwOnError: true })
    await refresh()
    notices.say(project ? said.saved(body.name) : said.made(body.name))
    if (isHere()) close()
  })
  return (
    <Form sending={sending} button={words.settings.save}>
      <Stack gap="md">
        <TextInput label={words.settings.fields.name} {...field('name')} required maxLength={200} data-autofocus />
        <MultiSelect
          label={said.domains}
          {...field('domainIds')}
          data={(data?.domains ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          searchable
        />
      </Stack>
    </Form>
  )
}
