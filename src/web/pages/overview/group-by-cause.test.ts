import { expect, test } from 'bun:test'
import type { CauseList, Issue } from '#client/types.gen'
import { groupByCause } from './group-by-cause.ts'

const issues = (ids: string) => ids.split('').map((id) => ({ id }) as Issue)
const cause = (title: string, ids: string, kind = 'release') =>
  ({ kind, title, issueIds: ids.split('') }) as CauseList['causes'][number]

test.each<[string, string, CauseList['causes'], string[]]>([
  ['no causes', 'abc', [], [': a', ': b', ': c']],
  ['a cause shared by two issues', 'abc', [cause('release', 'ac')], ['release: ac', ': b']],
  ['a cause of a single issue is ignored', 'ab', [cause('tag', 'a')], [': a', ': b']],
  ['the cause "tag" is ignored', 'ab', [cause('Meta on Shop', 'ab', 'tag')], [': a', ': b']],
  ['issues outside the list also count', 'ab', [cause('release', 'az')], ['release: a', ': b']],
  [
    'an issue with two causes belongs to the more severe one',
    'ab',
    [cause('first', 'ab'), cause('second', 'bz')],
    ['first: ab'],
  ],
])('%s', (_name, shown, causes, groups) => {
  const found = groupByCause(issues(shown), causes)
  expect(found.map(({ cause, issues }) => `${cause?.title ?? ''}: ${issues.map(({ id }) => id).join('')}`)).toEqual(
    groups,
  )
})
