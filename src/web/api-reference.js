import 'rapidoc/dist/rapidoc-min.js'

const COLORS = {
  light: {
    'bg-color': '#ffffff',
    'text-color': '#22272e',
    'primary-color': '#0b5cad',
    'nav-bg-color': '#f5f6f8',
    'nav-text-color': '#3d444d',
    'nav-hover-bg-color': '#e8ebef',
    'nav-hover-text-color': '#0b5cad',
    'nav-accent-color': '#0b5cad',
  },
  dark: {
    'bg-color': '#14171c',
    'text-color': '#d5dae1',
    'primary-color': '#6cb6ff',
    'nav-bg-color': '#1b1f26',
    'nav-text-color': '#aab2bd',
    'nav-hover-bg-color': '#262c35',
    'nav-hover-text-color': '#6cb6ff',
    'nav-accent-color': '#6cb6ff',
  },
}

const docs = document.querySelector('rapi-doc')
const dark = matchMedia('(prefers-color-scheme: dark)')

function follow({ matches }) {
  const theme = matches ? 'dark' : 'light'
  docs.setAttribute('theme', theme)
  for (const [name, color] of Object.entries(COLORS[theme])) docs.setAttribute(name, color)
}

follow(dark)
dark.addEventListener('change', follow)
