" A compiler for Vim and Neovim: in ~/.vim/compiler/ (~/.config/nvim/compiler/).
"   :compiler pct
"   :make ./build/tests
" runs a campaign of 500 schedules, and its findings are in the quickfix list, the threads of each as notes below it.
if exists('current_compiler')
  finish
endif
let current_compiler = 'pct'
CompilerSet makeprg=pct\ campaign\ -q\ -n\ 500\ --report\ lines\ --
CompilerSet errorformat=%f:%l:\ %trror:\ %m,%f:%l:\ %tote:\ %m,%-G%.%#
