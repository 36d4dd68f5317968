import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

/** A sentence written for people to read. */
export interface Sentence {
  /** Path from the project root. */
  path: string
  /** First line of the paragraph, counted from 1. */
  line: number
  text: string
  kind: 'comment' | 'heading' | 'message' | 'paragraph'
}

/** A pattern that `docs/develop/style.md` excludes. */
interface Habit {
  name: string
  pattern: RegExp
  /** Kinds of sentences that are checked. Default: all kinds. */
  kinds?: readonly Sentence['kind'][]
  /** The recommended wording. */
  instead: string
}

/** Maximum number of words in a sentence. */
export const MAX_WORDS = 40

export const HABITS: readonly Habit[] = [
  {
    name: '“so many”',
    pattern: /\bso (?:many|much|long|few|often)\b(?! (?:that|as)\b)/i,
    instead: 'the number itself',
  },
  { name: '“beside”', pattern: /\bbeside\b/i, instead: '“next to”, “with”, “in addition to”' },
  {
    name: '“stands”',
    pattern: /\b(?:stands?|stood|standing)\b(?! for\b|alone)/i,
    instead: '“is”, “appears”, “status”',
  },
  { name: '“is told”', pattern: /\b(?:is|are|was|were|be|been) told\b|\btells? of\b/i, instead: '“notify”, “report”' },
  { name: '“anew”, “once more”', pattern: /\banew\b|\bonce more\b/i, instead: '“again”' },
  {
    name: '“of ours”, “of its own”',
    pattern: /\bof (?:ours|its own|their own|his own|our own|before|now)\b|\bthan ours\b/i,
    instead: '“our”, “its own X”, “previous”, “current”',
  },
  { name: '“by itself”', pattern: /\bby (?:itself|themselves)\b/i, instead: '“automatically”, “alone”' },
  { name: '“that are there”', pattern: /\bthat (?:is|are) there\b/i, instead: '“existing”, or nothing' },
  { name: '“takes in”', pattern: /\b(?:takes?|took|taken) in\b/i, instead: '“accepts”, “imports”, “receives”' },
  { name: '“the most that”', pattern: /\bthe (?:most|least) (?:that|which)\b/i, instead: '“maximum”' },
  { name: '“whoever”', pattern: /\bwhoever\b|\bwhosoever\b/i, instead: '“the person who”, “anyone who”' },
  { name: '“goes on”', pattern: /\bgo(?:es)? on\b/i, instead: '“continues”' },
  { name: '“is no X”', pattern: /\bis no (?:a|an|number|text|list|file|event)\b/i, instead: '“is not a”' },
  {
    name: 'a clause as subject',
    // Questions may begin with these words.
    pattern: /^(?:Whose|Who|What|Whatever|Whichever)\s(?!.*\?$)(?:\S+\s+){2}/,
    kinds: ['comment', 'message', 'paragraph'],
    instead: 'a noun: “Bytes stored by organization”',
  },
  {
    name: 'a heading that is a sentence',
    pattern: /[.;]$|^(?:Whose|Who|Whatever)\b(?!.*\?$)/,
    kinds: ['heading'],
    instead: 'what the section contains',
  },
  {
    name: `more than ${MAX_WORDS} words`,
    pattern: new RegExp(`^(?:\\S+\\s+){${MAX_WORDS}}`),
    kinds: ['comment', 'message', 'paragraph'],
    instead: 'two sentences',
  },
]

/** Returns one line for each excluded pattern found, with its location and the recommended wording. */
export function faultsOf(sentences: readonly Sentence[]): string[] {
  return sentences.flatMap(({ path, line, text, kind }) =>
    HABITS.filter(({ pattern, kinds }) => (kinds?.includes(kind) ?? true) && pattern.test(text)).map(
      ({ name, instead }) => `${path}:${line}: ${name}, better ${instead}: ${text}`,
    ),
  )
}

/** Consecutive lines that form a paragraph. */
interface Paragraph {
  line: number
  text: string
  kind: Sentence['kind']
}

const CODE = [new Glob('build.ts'), new Glob('{src,test,bench,migrations}/**/*.{ts,tsx}')]
const DOCUMENTS = [new Glob('*.md'), new Glob('docs/**/*.md')]
/** Files that quote other texts or contain deliberately bad sentences. */
const QUOTED = ['test/prose.test.ts', 'test/prose.ts', 'docs/develop/style.md']

/** Returns every sentence in comments, messages and documents, in file order. `root` is the project folder. */
export function sentencesOfProject(root = ROOT): Sentence[] {
  const found: Sentence[] = []
  for (const [globs, read] of [
    [CODE, paragraphsOfCode],
    [DOCUMENTS, paragraphsOfDocument],
  ] as const) {
    for (const path of globs.flatMap((glob) => [...glob.scanSync({ cwd: root })].sort())) {
      if (QUOTED.includes(path) || path.endsWith('.d.ts')) continue
      for (const { line, text, kind } of read(readFileSync(join(root, path), 'utf8'))) {
        for (const sentence of kind === 'heading' ? [text] : sentencesOf(text)) {
          found.push({ path, line, text: sentence, kind })
        }
      }
    }
  }
  return found
}

/** Splits a paragraph into sentences. A full stop inside a number, name or abbreviation does not end a sentence. */
export function sentencesOf(paragraph: string): string[] {
  return paragraph
    .split(/(?<=[.!?:][)"'`]?)\s+(?=[A-Z`"(])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}

/** Returns the comments that have their own lines, and quoted strings of at least four words. */
export function paragraphsOfCode(source: string): Paragraph[] {
  const found: Paragraph[] = []
  let open: { line: number; lines: string[] } | null = null
  const close = () => {
    if (open) found.push({ line: open.line, text: open.lines.join(' ').trim(), kind: 'comment' })
    open = null
  }
  for (const [index, raw] of source.split('\n').entries()) {
    const comment = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))(?:\s(.*?))?\s*(?:\*\/)?$/.exec(raw)
    const text = comment?.[1]?.replace(/\*\/$/, '').trim() ?? ''
    if (text === '' || text.startsWith('@') || text.startsWith('biome-ignore')) close()
    else if (open && !text.startsWith('- ')) open.lines.push(text)
    else {
      close()
      open = { line: index + 1, lines: [text.replace(/^- /, '')] }
    }
    if (comment) {
      if (raw.includes('*/')) close()
      continue
    }
    for (const [, , quoted = ''] of raw.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)) {
      const message = quoted.replace(/\\(['"`])/g, '$1').replace(/\$\{[^}]*\}/g, 'X')
      if (isProse(message)) found.push({ line: index + 1, text: message, kind: 'message' })
    }
  }
  close()
  return found
}

/** True for words separated by spaces that do not look like SQL, CSS, a command or a pattern. */
function isProse(text: string): boolean {
  return text.split(/\s+/).length >= 4 && !/[{}<>=\\|]|\b[A-Z]{4,}\b|--|\(\?|;\s*\S+:/.test(text)
}

/** Returns paragraphs, list items and headings. Code, tables, images and URLs are omitted. */
export function paragraphsOfDocument(source: string): Paragraph[] {
  const found: Paragraph[] = []
  let open: { line: number; lines: string[] } | null = null
  let isCode = false
  const close = () => {
    if (open) found.push({ line: open.line, text: plain(open.lines.join(' ')), kind: 'paragraph' })
    open = null
  }
  for (const [index, raw] of source.split('\n').entries()) {
    const line = raw.trim()
    if (line.startsWith('```')) isCode = !isCode
    const heading = /^#+\s+(.*)$/.exec(line)
    if (isCode || line === '' || /^(?:```|\||<|!\[)/.test(line)) close()
    else if (heading) {
      close()
      found.push({ line: index + 1, text: plain(heading[1] ?? ''), kind: 'heading' })
    } else if (/^(?:[-*]|\d+\.)\s/.test(line) || !open) {
      close()
      open = { line: index + 1, lines: [line.replace(/^(?:[-*]|\d+\.)\s+/, '')] }
    } else open.lines.push(line)
  }
  close()
  return found
}

/** Returns the text without Markdown markup. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}([^*_]+)[*_]{1,2}/g, '$1')
    .trim()
}
