import FileUp from '@lucide/svelte/icons/file-up'
import Keyboard from '@lucide/svelte/icons/keyboard'
import Monitor from '@lucide/svelte/icons/monitor'
import MoonStar from '@lucide/svelte/icons/moon-star'
import Search from '@lucide/svelte/icons/search'
import Sun from '@lucide/svelte/icons/sun'
import Zap from '@lucide/svelte/icons/zap'
import type { App } from '../../app-context.ts'
import type { Icon } from '../../kit/look.ts'
import type { Command } from '../../state/commands.svelte.ts'
import { themes, type ThemeChoice } from '../../state/theme.svelte.ts'
import { destinations } from './navigation.ts'

const themeIcons: Record<ThemeChoice, Icon> = { system: Monitor, light: Sun, dark: MoonStar }

interface Openers {
  openPalette: () => void
  openShortcuts: () => void
}

/** What can be done on every screen. */
export function shellCommands({ router, theme }: App, { openPalette, openShortcuts }: Openers): Command[] {
  return [
    ...destinations.map(({ href, label, icon, keys }) => ({
      id: `go ${href}`,
      title: `Go to ${label.toLowerCase() === 'sql' ? 'SQL' : label.toLowerCase()}`,
      group: 'Go to',
      icon,
      keys,
      run: () => router.go(href),
    })),
    { id: 'demo', title: 'Go to the live demo', group: 'Go to', icon: Zap, run: () => router.go('#/demo') },
    {
      id: 'palette',
      title: 'Search and commands',
      group: 'Everywhere',
      icon: Search,
      keys: 'mod+k',
      run: openPalette,
    },
    {
      id: 'search',
      title: 'Search in this list',
      group: 'Everywhere',
      icon: Search,
      keys: '/',
      run: () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    },
    {
      id: 'shortcuts',
      title: 'Keyboard shortcuts',
      group: 'Everywhere',
      icon: Keyboard,
      keys: '?',
      run: openShortcuts,
    },
    {
      id: 'import',
      title: 'Import a workflow',
      group: 'Everywhere',
      icon: FileUp,
      run: () => router.go('#/import'),
    },
    ...themes.map((choice) => ({
      id: `theme ${choice}`,
      title: choice === 'system' ? 'Use the theme of the system' : `Use the ${choice} theme`,
      group: 'Theme',
      icon: themeIcons[choice],
      run: () => theme.choose(choice),
    })),
  ]
}
