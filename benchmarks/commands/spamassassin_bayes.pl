# SpamAssassin's Bayes as a filter of its own, for bench_learning.py: no other rule has a say.
#
#   perl spamassassin_bayes.pl FOLDER
#
# Reads lines from standard input: `spam PATH` and `ham PATH` teach, `ask PATH` prints the probability of spam.
use strict;
use warnings;
use Mail::SpamAssassin;

my ($folder) = @ARGV;
my $filter = Mail::SpamAssassin->new({
    config_text => <<"SETTINGS",
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_path $folder/bayes
bayes_auto_learn 0
bayes_auto_expire 0
bayes_learn_to_journal 0
bayes_min_ham_num 1
bayes_min_spam_num 1
SETTINGS
    dont_copy_prefs => 1,
    local_tests_only => 1,
    home_dir_for_helpers => $folder,
    userstate_dir => $folder,
});
$filter->init(1);
$filter->init_learner({ opportunistic_expire_check_only => 1 });
my ($bayes) = grep { ref eq 'Mail::SpamAssassin::Plugin::Bayes' } @{ $filter->{plugins}->{plugins} };
$| = 1;
while (my $line = <STDIN>) {
    chomp $line;
    my ($what, $path) = split / /, $line, 2;
    open my $file, '<:raw', $path or die "$path: $!";
    my $text = do { local $/; <$file> };
    close $file;
    my $mail = $filter->parse($text);
    if ($what eq 'ask') {
        my $status = Mail::SpamAssassin::PerMsgStatus->new($filter, $mail);
        my $score = $bayes->scan($status, $mail);
        printf "%.6f\n", defined $score ? $score : 0.5;
        $status->finish();
    } else {
        $filter->learn($mail, undef, $what eq 'spam', 0)->finish();
    }
    $mail->finish();
}
$filter->finish_learner();
